"""Kernels for transpose, and for layout_transform, which is a transpose."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, strided
from microgen.ops.layout_transform import LayoutTransformAttrs
from microgen.ops.transpose import TransposeAttrs

OP_NAME = "transpose"


def _strides(node: Node, graph: Graph) -> tuple[int, ...]:
    assert isinstance(node.attrs, TransposeAttrs | LayoutTransformAttrs)
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    return tuple(steps[axis] for axis in node.attrs.axes)


def _params(node: Node, graph: Graph) -> base.Fields:
    return strided.fields(node, graph, _strides(node, graph), 0)


def _refusal(node: Node, graph: Graph) -> str | None:
    return strided.too_many_axes(graph.types[node.outputs[0]].shape, _strides(node, graph))


KERNELS = (
    base.Kernel(
        symbol="mg_strided_copy",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
    ),
)
