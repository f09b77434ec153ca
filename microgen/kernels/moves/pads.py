"""Kernels for tensors with a border."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.ops.base import Pair
from microgen.graph.ops.moves.pads import MirrorPadAttrs, PadAttrs
from microgen.kernels import base
from microgen.kernels.moves import strided
from microgen.kernels.work import Work

_PAD_AXES = 6  # of mg_pad
_WORD = 4
_VECTOR = 16  # bytes
_SHORT = 64  # bytes of a row that compilers copy without calling memcpy

PadAxis = tuple[int, int, int]  # number of elements before the data, in it, and after it


def _pad_merged(node: Node, graph: Graph) -> list[PadAxis]:
    """The fewest axes of the output: an unpadded axis is merged into the axis before it."""
    attrs = base.attrs_of(node, PadAttrs)
    found: list[PadAxis] = []
    for size, pads in zip(graph.types[node.inputs[0]].shape, attrs.pads, strict=True):
        if any(pads) or not found:
            found.append((pads[0], size, pads[1]))
        else:
            # One step along that axis is ``size`` elements of the merged one.
            before, outer, after = found[-1]
            found[-1] = (before * size, outer * size, after * size)
    return found


def _pad_params(node: Node, graph: Graph) -> base.Fields:
    attrs, output = node.attrs, graph.types[node.outputs[0]]
    assert isinstance(attrs, PadAttrs)
    axes = _pad_merged(node, graph)
    axes = [(0, 1, 0)] * (_PAD_AXES - len(axes)) + axes
    steps = strided.row_major([sum(axis) for axis in axes])
    return (
        ("shape", tuple(size for _, size, _ in axes)),
        ("stride", steps[:-1]),  # the last one is 1
        ("offset", sum(before * step for (before, _, _), step in zip(axes, steps, strict=True))),
        ("size", output.size),
        *strided.element_bytes(node, graph),
        *_value(attrs.value, output),
    )


def _value(value: float, output: ArrayType) -> base.Fields:
    """The bits of the stored value as one integer, or two for 8 bytes."""
    # Fields have 32 bits, so values of 8 bytes need two.
    stored = np.array(value, output.dtype.numpy).tobytes()
    bits = int.from_bytes(stored, "little", signed=True)
    low, high = np.array([bits], "<i8").view("<i4").tolist()
    return (("value", low), ("value_high", high if output.dtype.nbytes == 8 else 0))


def _pad_work(node: Node, graph: Graph) -> Work:
    """The elements that are filled (bytes, if all bytes of an element are equal), and the rows that
    are copied.
    """
    (data,), output = base.types(node, graph)
    each, value = data.dtype.nbytes, dict(_value(base.attrs_of(node, PadAttrs).value, output))
    before, width, after = (n * each for n in _pad_merged(node, graph)[-1])
    rows, is_filled = data.nbytes // max(1, width), each > 1 and any(value.values())
    # Addresses of such rows in input and output do not differ by a multiple of a word.
    is_uneven = before % _WORD != 0 or (before + after) % _WORD != 0
    return {
        "call": 1,
        "cleared_byte": 0 if is_filled else output.nbytes,
        **{f"filled_{n}": output.size * (is_filled and each == n) for n in (2, 4, 8)},
        "short_row": rows * (width <= _SHORT),
        "long_row": rows * (width > _SHORT),
        "input_byte": data.nbytes,
        "uneven_byte": data.nbytes * is_uneven,
        "long_uneven_byte": data.nbytes * (is_uneven and width > _SHORT),
    }


def _vector_work(node: Node, graph: Graph) -> Work:
    """Vectors that are filled; rows, and vectors of these."""
    (data,), output = base.types(node, graph)
    width = _pad_merged(node, graph)[-1][1] * data.dtype.nbytes
    rows = data.nbytes // max(1, width)
    vectors = {"vector_fill": -(-output.nbytes // _VECTOR), "vector": rows * -(-width // _VECTOR)}
    return {"call": 1, "output": output.size, "vector_row": rows, **vectors}


def _vector_refusal(node: Node, graph: Graph) -> str | None:
    output = graph.types[node.outputs[0]]
    stored = np.array(base.attrs_of(node, PadAttrs).value, output.dtype.numpy).tobytes()
    if len({*stored}) > 1:
        return "the bytes of the padding's value differ"
    return _pad_refusal(node, graph)


def _pad_refusal(node: Node, graph: Graph) -> str | None:
    count = len(_pad_merged(node, graph))
    return f"{count} axes, the kernel takes at most {_PAD_AXES}" if count > _PAD_AXES else None


_MIRROR_PAD_AXES = 6  # of mg_mirror_pad

MirrorPadAxis = tuple[int, Pair]  # elements of the input, (before, after)


def _mirror_pad_merged(node: Node, graph: Graph) -> tuple[list[MirrorPadAxis], int]:
    """The fewest axes, with adjacent unpadded ones merged, and the size of a block that is copied
    whole: the product of the axes after the last padded one."""
    attrs = base.attrs_of(node, MirrorPadAttrs)
    found: list[MirrorPadAxis] = []
    block = 1  # product of the unpadded axes since the last padded one
    for size, pads in zip(graph.types[node.inputs[0]].shape, attrs.pads, strict=True):
        if any(pads):
            found += [(block, (0, 0)), (size, pads)] if block > 1 else [(size, pads)]
            block = 1
        else:
            block *= size
    return found, block


def _mirror_pad_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, MirrorPadAttrs)
    axes, block = _mirror_pad_merged(node, graph)
    axes = [(1, (0, 0))] * (_MIRROR_PAD_AXES - len(axes)) + axes
    return (
        ("input_shape", tuple(size for size, _ in axes)),
        ("before", tuple(before for _, (before, _) in axes)),
        ("output_shape", tuple(size + sum(pads) for size, pads in axes)),
        ("block", block),
        ("edge", int(attrs.repeats_edge)),
        *strided.element_bytes(node, graph),
    )


def _mirror_pad_refusal(node: Node, graph: Graph) -> str | None:
    count = len(_mirror_pad_merged(node, graph)[0])
    return (
        f"{count} axes, the kernel takes at most {_MIRROR_PAD_AXES}"
        if count > _MIRROR_PAD_AXES
        else None
    )


BY_OP = {
    "nn.pad": (
        base.Implementation(
            symbol="mg_pad_mve",
            refusal=_vector_refusal,
            params=_pad_params,
            needs=base.MVE,
            work=_vector_work,
        ),
        base.Implementation(
            symbol="mg_pad",
            refusal=_pad_refusal,
            params=_pad_params,
            work=_pad_work,
        ),
    ),
    "nn.mirror_pad": (
        base.Implementation(
            symbol="mg_mirror_pad",
            refusal=_mirror_pad_refusal,
            params=_mirror_pad_params,
        ),
    ),
}
