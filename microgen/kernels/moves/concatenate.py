"""Kernels for concatenate."""

from __future__ import annotations

import math
from itertools import accumulate

from microgen.graph.ir.graph import Graph, Node, TensorType
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.kernels import base
from microgen.kernels.moves import moves

OP_NAME = "concatenate"


def _axis(node: Node) -> int:
    assert isinstance(node.attrs, ConcatenateAttrs)
    return node.attrs.axis


def _row(node: Node, tensor: TensorType) -> int:
    """Bytes per row."""
    return math.prod(tensor.shape[_axis(node) :]) * tensor.dtype.nbytes


def _rows(node: Node, graph: Graph) -> int:
    return math.prod(graph.types[node.outputs[0]].shape[: _axis(node)])


def _params(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    return (
        ("rows", _rows(node, graph)),
        ("output_row", _row(node, output)),
        *moves.element_bytes(node, graph),
    )


def _each_input(node: Node, graph: Graph) -> tuple[base.Fields, ...]:
    rows = [_row(node, tensor) for tensor in graph.type_of(node.inputs)]
    starts = accumulate(rows, initial=0)
    return tuple(
        (("input_row", row), ("offset", start)) for row, start in zip(rows, starts, strict=False)
    )


def _in_place(node: Node, graph: Graph) -> base.Lags:
    """The first input is copied before the others are, row after row. When row k is, the output has
    been written up to that row's end, and the input is read from its row k on."""
    first, whole = (_row(node, graph.types[name]) for name in (node.inputs[0], node.outputs[0]))
    return {0: (_rows(node, graph) - 1) * (whole - first) + first}


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_write_slice",
        needs=base.REFERENCE,
        refusal=moves.any_tensor,
        params=_params,
        in_place=_in_place,
        each_input=_each_input,
    ),
)
