"""Kernels for parts of a tensor."""

from __future__ import annotations

from math import prod

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided


def _attrs(node: Node) -> StridedSliceAttrs:
    assert isinstance(node.attrs, StridedSliceAttrs)
    return node.attrs


def _strides(node: Node, graph: Graph) -> tuple[int, ...]:
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    return tuple(a * b for a, b in zip(_attrs(node).strides, steps, strict=True))


def _strided_slice_params(node: Node, graph: Graph) -> base.Fields:
    attrs = _attrs(node)
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    offset = sum(a * b for a, b in zip(attrs.begin, steps, strict=True))
    return strided.fields(node, graph, _strides(node, graph), offset)


def _strided_slice_refusal(node: Node, graph: Graph) -> str | None:
    return strided.too_many_axes(_attrs(node).shape, _strides(node, graph))


def _slide_params(node: Node, graph: Graph) -> base.Fields:
    """Bytes of the rows that remain and of the new ones."""
    window, rows = graph.type_of(node.inputs)
    return (("kept_size", window.nbytes - rows.nbytes), ("new_size", rows.nbytes))


_DYNAMIC_UPDATE_SLICE_AXES = 4


def _outer_axes(node: Node, graph: Graph) -> int:
    """The number of axes up to the last one along which the update is shorter than the data, at
    least 1. The others are copied as a whole."""
    data, update, _ = graph.type_of(node.inputs)
    pairs = zip(data.shape, update.shape, strict=True)
    return max([1, *(axis + 1 for axis, (size, own) in enumerate(pairs) if own < size)])


def _dynamic_update_slice_params(node: Node, graph: Graph) -> base.Fields:
    data, update, _ = graph.type_of(node.inputs)
    outer = _outer_axes(node, graph)
    padding = (1,) * (_DYNAMIC_UPDATE_SLICE_AXES - outer)
    return (
        ("axes", outer),
        ("shape", (*padding, *data.shape[:outer])),
        ("update", (*padding, *update.shape[:outer])),
        ("inner_bytes", prod(data.shape[outer:]) * data.dtype.nbytes),
        *strided.element_bytes(node, graph),
    )


def _dynamic_update_slice_refusal(node: Node, graph: Graph) -> str | None:
    outer = _outer_axes(node, graph)
    if outer <= _DYNAMIC_UPDATE_SLICE_AXES:
        return None
    return (
        f"its update lies along {outer} axes, the kernel takes at most {_DYNAMIC_UPDATE_SLICE_AXES}"
    )


BY_OP = {
    "strided_slice": (
        base.Implementation(
            symbol="mg_strided_copy",
            needs=base.REFERENCE,
            refusal=_strided_slice_refusal,
            params=_strided_slice_params,
        ),
    ),
    "slide": (
        base.Implementation(
            symbol="mg_slide",
            needs=base.REFERENCE,
            refusal=strided.any_tensor,
            params=_slide_params,
            inputs=(0, 1),
            in_place=base.as_is,
        ),
    ),
    "dynamic_update_slice": (
        base.Implementation(
            symbol="mg_dynamic_update_slice",
            needs=base.REFERENCE,
            refusal=_dynamic_update_slice_refusal,
            params=_dynamic_update_slice_params,
            inputs=(0, 1, 2),
            in_place=base.as_is,
        ),
    ),
}
