"""Kernels for concatenate."""

from __future__ import annotations

import math

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.ops.concatenate import ConcatenateAttrs

OP_NAME = "concatenate"


def _axis(node: Node) -> int:
    assert isinstance(node.attrs, ConcatenateAttrs)
    return node.attrs.axis


def _params(node: Node, graph: Graph) -> base.Fields:
    axis, shape = _axis(node), graph.types[node.outputs[0]].shape
    return (("rows", math.prod(shape[:axis])), ("output_row", math.prod(shape[axis:])))


def _each_input(node: Node, graph: Graph, position: int) -> base.Fields:
    rows = [math.prod(t.shape[_axis(node) :]) for t in graph.type_of(node.inputs)]
    return (("input_row", rows[position]), ("offset", sum(rows[:position])))


KERNELS = (
    base.Kernel(
        symbol="mg_write_slice_s8",
        needs=base.REFERENCE,
        refusal=base.only(DType.INT8),
        params=_params,
        each_input=_each_input,
    ),
)
