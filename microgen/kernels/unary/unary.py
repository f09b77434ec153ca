"""Shared by kernels of one tensor that work value by value:
``crt/include/microgen/unary/unary.h``."""

from __future__ import annotations

from collections.abc import Callable

from microgen.graph.ir.graph import DType, Graph, Node, TensorType
from microgen.graph.ops.unary.sigmoid import SigmoidParameters
from microgen.kernels import base
from microgen.kernels.base import Params

_SUFFIXES = {DType.INT8: "s8", DType.INT16: "s16", DType.FLOAT32: "f32"}


def size(node: Node, graph: Graph) -> base.Fields:
    """The number of elements: the first field of every such kernel, and often the only one."""
    return (("size", graph.types[node.outputs[0]].size),)


def scaled(parameters: Callable[[TensorType], SigmoidParameters]) -> Params:
    """The fields of int16 kernels that look their scaled data up in the table of sigmoid."""

    def params(node: Node, graph: Graph) -> base.Fields:
        p = parameters(graph.types[node.inputs[0]])
        return (*size(node, graph), ("multiplier", p.multiplier), ("shift", p.shift))

    return params


def kernel(name: str, dtype: DType, params: Params = size, ulps: int = 0) -> base.Implementation:
    """The kernel ``mg_<name>_<dtype>`` with data and output of that dtype.

    ``ulps``, for a float kernel, are those that ``float_math.h`` states, plus half for the
    reference's own rounding; results differ by whole units.
    """
    return base.Implementation(
        symbol=f"mg_{name}_{_SUFFIXES[dtype]}",
        needs=base.REFERENCE,
        refusal=base.only(dtype),
        params=params,
        in_place=base.as_is,
        ulps=ulps,
    )
