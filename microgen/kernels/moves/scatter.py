"""Kernels for scatter."""

from __future__ import annotations

from math import prod

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.moves.indexed import ScatterAttrs
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "scatter"

_REDUCTIONS = ("add", "mul", "max", "min")  # scatter_combined.h: MG_SCATTER_*


def _attrs(node: Node) -> ScatterAttrs:
    assert isinstance(node.attrs, ScatterAttrs)
    return node.attrs


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = _attrs(node)
    data, positions, _ = graph.type_of(node.inputs)
    is_combined = attrs.reduction in _REDUCTIONS
    return (
        ("rows", attrs.shape[0]),
        ("row_size", prod(attrs.shape[1:])),
        ("count", positions.size),
        ("is_filled", int(data.shape != attrs.shape)),
        *moves.element_bytes(node, graph),
        ("reduction", _REDUCTIONS.index(attrs.reduction) if is_combined else 0),
    )


def _in_place(node: Node, graph: Graph) -> base.Lags:
    return {0: 0} if graph.types[node.inputs[0]].shape == _attrs(node).shape else {}


def _moving(node: Node, _graph: Graph) -> str | None:
    if _attrs(node).reduction == "none":
        return None
    return base.Mismatch(base.Trait.ARITHMETIC, "its rows are combined, the kernel copies them")


def _combining(dtype: DType) -> base.Refuse:
    def refusal(node: Node, graph: Graph) -> str | None:
        if _attrs(node).reduction == "none":
            return base.Mismatch(base.Trait.ARITHMETIC, "its rows are copied, not combined")
        return base.only(dtype)(node, graph)

    return refusal


def _kernel(symbol: str, refusal: base.Refuse, family: str = "") -> base.Implementation:
    return base.Implementation(
        symbol=symbol,
        needs=base.REFERENCE,
        refusal=refusal,
        params=_params,
        inputs=(0, 1, 2),
        in_place=_in_place,
        can_fail=True,
        family=family,
    )


IMPLEMENTATIONS = (
    _kernel("mg_scatter", _moving),
    _kernel("mg_scatter_f32", _combining(DType.FLOAT32), "scatter_combined"),
    _kernel("mg_scatter_s32", _combining(DType.INT32), "scatter_combined"),
    _kernel("mg_scatter_s64", _combining(DType.INT64), "scatter_combined"),
)
