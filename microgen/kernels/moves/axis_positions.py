"""Kernels for axis_positions."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.indexed import AxisPositionsAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided

OP_NAME = "axis_positions"

_AXES = 6


def _attrs(node: Node) -> AxisPositionsAttrs:
    assert isinstance(node.attrs, AxisPositionsAttrs)
    return node.attrs


def _strides(node: Node) -> tuple[int, ...]:
    attrs = _attrs(node)
    steps = strided.row_major(attrs.shape)
    return tuple(0 if k == attrs.axis else step for k, step in enumerate(steps))


def _params(node: Node, graph: Graph) -> base.Fields:
    (indices,), output = base.types(node, graph)
    attrs = _attrs(node)
    axes = strided.merged(output.shape, _strides(node))
    axes = [(1, 0)] * (_AXES - len(axes)) + axes
    return (
        ("shape", tuple(size for size, _ in axes)),
        ("stride", tuple(stride for _, stride in axes)),
        ("axis_size", attrs.shape[attrs.axis]),
        ("axis_stride", strided.row_major(attrs.shape)[attrs.axis]),
        ("index_bytes", indices.dtype.nbytes),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    count = len(strided.merged(graph.types[node.outputs[0]].shape, _strides(node)))
    if count <= _AXES:
        return None
    return f"its indices lie along {count} axes, the kernel takes at most {_AXES}"


IMPLEMENTATIONS = (
    base.Implementation(
        symbol="mg_axis_positions",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        in_place=base.as_is,
        can_fail=True,
    ),
)
