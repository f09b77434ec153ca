"""Kernels for cumsum."""

from __future__ import annotations

from math import prod

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.cumsum import CumsumAttrs

OP_NAME = "cumsum"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs, shape = node.attrs, graph.types[node.inputs[0]].shape
    assert isinstance(attrs, CumsumAttrs)
    return (
        ("outer_size", prod(shape[: attrs.axis])),
        ("axis_size", shape[attrs.axis]),
        ("inner_size", prod(shape[attrs.axis + 1 :])),
        ("exclusive", int(attrs.exclusive)),
        ("reverse", int(attrs.reverse)),
    )


def _kernel(suffix: str, dtype: DType) -> base.Implementation:
    return base.Implementation(
        symbol=f"mg_cumsum_{suffix}",
        needs=base.REFERENCE,
        refusal=base.only(dtype),
        params=_params,
        in_place=base.as_is,
        family="cumsum",
    )


IMPLEMENTATIONS = (
    _kernel("s32", DType.INT32),
    _kernel("s64", DType.INT64),
    _kernel("f32", DType.FLOAT32),
)
