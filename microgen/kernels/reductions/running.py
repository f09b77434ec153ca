"""Kernels for running sums and products."""

from __future__ import annotations

from math import prod

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.reductions.running import RunningAttrs
from microgen.kernels import base

_SUFFIXES = {"s32": DType.INT32, "s64": DType.INT64, "f32": DType.FLOAT32}


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs, shape = node.attrs, graph.types[node.inputs[0]].shape
    assert isinstance(attrs, RunningAttrs)
    return (
        ("outer_size", prod(shape[: attrs.axis])),
        ("axis_size", shape[attrs.axis]),
        ("inner_size", prod(shape[attrs.axis + 1 :])),
        ("exclusive", int(attrs.exclusive)),
        ("reverse", int(attrs.reverse)),
    )


def kernels(family: str) -> tuple[base.Implementation, ...]:
    """``mg_<family>_<dtype>`` of the header ``<family>.h``."""
    return tuple(
        base.Implementation(
            symbol=f"mg_{family}_{suffix}",
            needs=base.REFERENCE,
            refusal=base.only(dtype),
            params=_params,
            in_place=base.as_is,
            family=family,
        )
        for suffix, dtype in _SUFFIXES.items()
    )


BY_OP = {
    "cumsum": kernels("cumsum"),
    "cumprod": kernels("cumprod"),
}
