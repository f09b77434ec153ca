"""Kernels that copy tensors or parts of them, in their order or in another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from math import prod

from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, LayoutTransformAttrs, TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided
from microgen.kernels.work import Work, work

_SIXTEEN = 16  # bytes that are copied at a time
_UNROLLED = 64  # bytes of a row that compilers copy without a loop


def _copy_params(node: Node, graph: Graph) -> base.Fields:
    return (("size", graph.types[node.outputs[0]].nbytes),)


COPY_KERNELS = (
    base.Implementation(
        symbol="mg_copy",
        refusal=strided.any_tensor,
        params=_copy_params,
    ),
)


def _broadcast_to_strides(node: Node, graph: Graph) -> tuple[int, ...]:
    (data,), output = base.types(node, graph)
    shape = (*(1,) * (len(output.shape) - len(data.shape)), *data.shape)
    steps = strided.row_major(shape)
    # Along a broadcast axis, the same element is read again.
    return tuple(0 if size == 1 else step for size, step in zip(shape, steps, strict=True))


def _transpose_strides(node: Node, graph: Graph) -> tuple[int, ...]:
    assert isinstance(node.attrs, TransposeAttrs | LayoutTransformAttrs)
    steps = strided.row_major(graph.types[node.inputs[0]].shape)
    return tuple(steps[axis] for axis in node.attrs.axes)


TRANSPOSE_KERNELS = (strided.copying(_transpose_strides),)


def _axis(node: Node) -> int:
    return base.attrs_of(node, ConcatenateAttrs).axis


def _row(node: Node, tensor: ArrayType) -> int:
    """Bytes per row."""
    return math.prod(tensor.shape[_axis(node) :]) * tensor.dtype.nbytes


def _rows(node: Node, graph: Graph) -> int:
    return math.prod(graph.types[node.outputs[0]].shape[: _axis(node)])


def _concatenate_params(node: Node, graph: Graph) -> base.Fields:
    output = graph.types[node.outputs[0]]
    return (
        ("rows", _rows(node, graph)),
        ("output_row", _row(node, output)),
        *strided.element_bytes(node, graph),
    )


def _concatenate_each_input(node: Node, graph: Graph) -> tuple[base.Fields, ...]:
    rows = [_row(node, tensor) for tensor in graph.type_of(node.inputs)]
    starts = accumulate(rows, initial=0)
    return tuple(
        (("input_row", row), ("offset", start)) for row, start in zip(rows, starts, strict=False)
    )


def _concatenate_in_place(node: Node, graph: Graph) -> base.Lags:
    first, whole = (_row(node, graph.types[name]) for name in (node.inputs[0], node.outputs[0]))
    # The first input is copied before the others are, row after row. When row k is copied, the
    # output has been written up to that row's end, and the input is read from its row k on.
    return {0: (_rows(node, graph) - 1) * (whole - first) + first}


def _concatenate_work(node: Node, graph: Graph) -> Work:
    """Parts of the loops over rows, beside the usual ones. Compilers copy rows of up to 64 bytes
    without a loop, and with MVE rows of up to 16."""
    widths = [_row(node, tensor) for tensor in graph.type_of(node.inputs)]
    brief = [width for width in widths if width <= _UNROLLED]
    long = [width for width in widths if width > _UNROLLED]
    rows = _rows(node, graph)
    return {
        **work(node, graph),
        **{name: rows * count for name, count in _moved(widths, "joined").items()},
        # The last words and bytes of long rows are few.
        "long_row": rows * len(long),
        "long_sixteen": rows * sum(width // _SIXTEEN for width in long),
        "long_begun": rows * sum(-(-width // _SIXTEEN) for width in long),
        "brief_row": rows * len(brief),
        "brief_move": rows * sum(w // 4 + w % 4 // 2 + w % 2 for w in brief),
        "one_begun": rows * sum(width <= _SIXTEEN for width in widths),
        "more_begun": rows * sum(-(-w // _SIXTEEN) for w in widths if w > _SIXTEEN),
    }


def _moved(widths: Sequence[int], name: str) -> dict[str, int]:
    """Rows, and in them blocks of 16 bytes, words and bytes."""
    return {
        f"{name}_row": len(widths),
        f"{name}_sixteen": sum(width // _SIXTEEN for width in widths),
        f"{name}_word": sum(width % _SIXTEEN // 4 for width in widths),
        f"{name}_byte": sum(width % 4 for width in widths),
        f"{name}_begun": sum(-(-width // _SIXTEEN) for width in widths),
    }


def _attrs(node: Node) -> StridedSliceAttrs:
    return base.attrs_of(node, StridedSliceAttrs)


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
    "copy": COPY_KERNELS,
    "bitcast": COPY_KERNELS,
    "broadcast_to": (strided.copying(_broadcast_to_strides),),
    "transpose": TRANSPOSE_KERNELS,
    "layout_transform": TRANSPOSE_KERNELS,
    "concatenate": (
        base.Implementation(
            symbol="mg_write_slice",
            refusal=strided.any_tensor,
            params=_concatenate_params,
            in_place=_concatenate_in_place,
            each_input=_concatenate_each_input,
            work=_concatenate_work,
        ),
    ),
    "strided_slice": (
        base.Implementation(
            symbol="mg_strided_copy",
            refusal=_strided_slice_refusal,
            params=_strided_slice_params,
        ),
    ),
    "slide": (
        base.Implementation(
            symbol="mg_slide",
            refusal=strided.any_tensor,
            params=_slide_params,
            inputs=(0, 1),
            in_place=base.as_is,
        ),
    ),
    "dynamic_update_slice": (
        base.Implementation(
            symbol="mg_dynamic_update_slice",
            refusal=_dynamic_update_slice_refusal,
            params=_dynamic_update_slice_params,
            inputs=(0, 1, 2),
            in_place=base.as_is,
        ),
    ),
}
