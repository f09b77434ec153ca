"""Kernels for strided_slice."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided

OP_NAME = "strided_slice"


def _attrs(node: Node) -> StridedSliceAttrs:
    assert isinstance(node.attrs, StridedSliceAttrs)
    return node.attrs


def _strides(node: Node, graph: Graph) -> tuple[int, ...]:
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    return tuple(a * b for a, b in zip(_attrs(node).strides, steps, strict=True))


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = _attrs(node)
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    offset = sum(a * b for a, b in zip(attrs.begin, steps, strict=True))
    return strided.fields(node, graph, _strides(node, graph), offset)


def _refusal(node: Node, graph: Graph) -> str | None:
    return strided.too_many_axes(_attrs(node).shape, _strides(node, graph))


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_strided_copy",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
    ),
)
