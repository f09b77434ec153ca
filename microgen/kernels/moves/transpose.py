"""Kernels for transpose, and for layout_transform, which is a transpose."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs
from microgen.kernels.moves import strided

OP_NAME = "transpose"


def _strides(node: Node, graph: Graph) -> tuple[int, ...]:
    assert isinstance(node.attrs, TransposeAttrs | LayoutTransformAttrs)
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    return tuple(steps[axis] for axis in node.attrs.axes)


IMPLEMENTATIONS = (strided.copying(_strides),)
