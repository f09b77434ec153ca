"""Kernels for topk."""

from __future__ import annotations

from math import prod

from microgen.base.errors import short
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.extremes import TopKAttrs
from microgen.kernels import base

OP_NAME = "topk"

_LETTERS = {"i": "s", "u": "u", "f": "f"}  # of suffixes, by numpy's kind


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, TopKAttrs)
    (data,), output = base.types(node, graph)
    return (
        ("outer_size", prod(data.shape[: attrs.axis])),
        ("axis_size", data.shape[attrs.axis]),
        ("inner_size", prod(data.shape[attrs.axis + 1 :])),
        ("k", attrs.k),
        ("is_largest", int(attrs.is_largest)),
        ("output_bytes", output.dtype.nbytes),
    )


def _reading(dtype: DType) -> base.Refuse:
    def refusal(node: Node, graph: Graph) -> str | None:
        found = graph.types[node.inputs[0]].dtype
        if found is dtype:
            return None
        why = f"{short(node.inputs[0])!r} is {found.value}, the kernel reads {dtype.value}"
        return base.Mismatch(base.Trait.DTYPE, why)

    return refusal


def _suffix(dtype: DType) -> str:
    return f"{_LETTERS[dtype.numpy.kind]}{8 * dtype.nbytes}"


IMPLEMENTATIONS = tuple(
    base.Implementation(
        f"mg_topk_{_suffix(dtype)}", base.REFERENCE, _reading(dtype), _params, family="topk"
    )
    for dtype in DType
    if dtype is not DType.BOOL
)
