"""Operators that reorder or repeat the elements of a tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import binary, chosen, compared
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.indexed import TakeAttrs


def _transpose(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    rank = len(data.shape)
    axes = arguments.axes(node, node.ints("perm", tuple(reversed(range(rank)))), rank)
    if len(axes) != rank:
        raise node.invalid(f"has the perm {list(axes)} for {data.type}")
    return move_nodes.reordered(node, data, axes)


def _expand(node: OnnxNode) -> BuiltTensor:
    data, wanted = node.tensor(0), node.declared_for(1) or node.ints_of("shape", 1) or ()
    if len(wanted) > move_nodes.MOST_AXES:
        raise node.unsupported(f"has {len(wanted)} axes", supported=f"up to {move_nodes.MOST_AXES}")
    try:
        shape = np.broadcast_shapes(data.shape, wanted)
    except ValueError:
        raise node.invalid(f"expands {data.type} to {list(wanted)}") from None
    return move_nodes.broadcast(node, data, move_nodes.shape_of(node, shape, data.dtype).shape)


def _tile(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    counts = _declared_counts(node, data) or node.ints_of("repeats", 1) or ()
    if len(counts) != len(data.shape):
        raise node.invalid(f"repeats {data.type} {list(counts)} times; a count per axis is needed")
    sizes = [count * size for count, size in zip(counts, data.shape, strict=True)]
    move_nodes.shape_of(node, sizes, data.dtype)
    repeated = [axis for axis, count in enumerate(counts) if count != 1]
    for first in range(0, len(repeated), 2):  # kernels take the axes that two make
        data = _repeated(node, data, {axis: counts[axis] for axis in repeated[first : first + 2]})
    return data


def _repeated(node: OnnxNode, data: BuiltTensor, counts: Mapping[int, int]) -> BuiltTensor:
    """The data repeated along its axes. Each repetition becomes a new axis before the repeated
    axis."""
    apart, wide = list[int](), list[int]()
    for axis, size in enumerate(data.shape):
        if axis in counts:
            apart.append(1)
            wide.append(counts[axis])
        apart.append(size)
        wide.append(size)
    shape = [size * counts.get(axis, 1) for axis, size in enumerate(data.shape)]
    return node.reshaped(move_nodes.broadcast(node, node.reshaped(data, apart), wide), shape)


def _declared_counts(node: OnnxNode, data: BuiltTensor) -> tuple[int, ...] | None:
    """The numbers of repetitions with which the data gets the declared shape."""
    rank = len(data.shape)
    shape = arguments.declared_sizes(node, 1, range(rank), rank)
    if shape is None:
        return None
    # The declared shape must consist of whole repetitions.
    if any(size % own for size, own in zip(shape, data.shape, strict=True)):
        raise node.invalid(f"repeats {data.type} to {list(shape)}")
    return tuple(size // own for size, own in zip(shape, data.shape, strict=True))


def _depth_to_space(node: OnnxNode) -> BuiltTensor:
    data, block, mode = *_blocks(node), str(node.attr("mode", "DCR"))
    n, channels, height, width = data.shape
    depth = channels // block**2
    if mode not in ("DCR", "CRD") or channels % block**2:
        raise node.invalid(f"has the mode {mode!r} and blocks of {block} for {data.type}")
    # Blocks are moved in NHWC, where the channels of a pixel are next to each other.
    image, pixel = node.laid_out(data, "NCHW", "NHWC"), (block, block, depth)
    axes = (0, 1, 3, 2, 4, 5)
    if mode == "CRD":
        pixel, axes = (depth, block, block), (0, 1, 4, 2, 5, 3)
    moved = move_nodes.reordered(node, node.reshaped(image, (n, height, width, *pixel)), axes)
    result = node.reshaped(moved, (n, height * block, width * block, depth))
    return node.laid_out(result, "NHWC", "NCHW")


def _space_to_depth(node: OnnxNode) -> BuiltTensor:
    data, block, mode = *_blocks(node), str(node.attr("mode", "DCR"))
    n, depth, height, width = data.shape
    if mode not in ("DCR", "CRD") or height % block or width % block:
        raise node.invalid(f"has the mode {mode!r} and blocks of {block} for {data.type}")
    rows, columns = height // block, width // block
    image = node.laid_out(data, "NCHW", "NHWC")
    axes = (0, 1, 3, 2, 4, 5) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    apart = node.reshaped(image, (n, rows, block, columns, block, depth))
    moved = move_nodes.reordered(node, apart, axes)
    result = node.reshaped(moved, (n, rows, columns, depth * block**2))
    return node.laid_out(result, "NHWC", "NCHW")


def _blocks(node: OnnxNode) -> tuple[BuiltTensor, int]:
    data, block = node.tensor(0), int(node.attr("blocksize"))
    if len(data.shape) != 4 or not 1 <= block <= data.type.size:
        raise node.invalid(f"has blocks of {block} for {data.type}; [N, C, H, W] is expected")
    return data, block


def _trilu(node: OnnxNode) -> BuiltTensor:
    """A choice between the data and zeros: column >= row + k, or <= for the lower part."""
    data = node.tensor(0)
    if len(data.shape) < 2:
        raise node.invalid(f"has the input {data.type}; a matrix is expected")
    rows, columns = data.shape[-2:]
    first = node.constant(np.arange(rows).reshape(-1, 1), "rows")
    limits = binary(node, "add", first, _diagonal(node, rows, columns))
    order = "greater_equal" if node.attr("upper", 1) else "less_equal"
    mask = compared(
        node, order, node.constant(np.arange(columns).reshape(1, -1), "columns"), limits
    )
    zero = node.constant(np.zeros((), data.dtype.numpy), "zero", data.type.quant)
    return chosen(node, mask, data, zero)


def _diagonal(node: OnnxNode, rows: int, columns: int) -> BuiltTensor:
    """The operand k as int64 [1, 1]; a constant is within the matrix, or next to it."""
    k = node.optional(1)
    if k is not None and k.value is None and k.dtype is DType.INT64 and k.type.size == 1:
        return node.reshaped(k, (1, 1))
    value = 0 if k is None else move_nodes.number_of(node, 1, "k")
    return node.constant(np.array([[max(-rows - 1, min(columns + 1, int(value)))]]), "k")


def _reverse_sequence(node: OnnxNode) -> BuiltTensor:
    """Rows of the merged first two axes. At step t of a sequence of n steps, the row is from step n
    - 1 - t if t is less than n, otherwise from step t.
    """
    data, lengths = node.tensor(0), move_nodes.indices_of(node, 1)
    batch, time = int(node.attr("batch_axis", 1)), int(node.attr("time_axis", 0))
    if {batch, time} != {0, 1} or len(data.shape) < 2 or lengths.shape != (data.shape[batch],):
        raise node.invalid(
            f"has the axes {batch} and {time} for {data.type} and lengths {lengths.type}; 0 and 1 "
            "are expected, and a length for each sequence"
        )
    counts = node.reshaped(lengths, _along(batch, data.shape[batch]))
    numbers = np.arange(data.shape[time], dtype=lengths.dtype.numpy).reshape(_along(time, -1))
    steps, after = node.constant(numbers, "steps"), node.constant(numbers + 1, "after")
    mirrored = binary(node, "subtract", counts, after)
    # Steps after the end of a sequence keep their rows.
    places = chosen(node, compared(node, "less", steps, counts), mirrored, steps)
    return _rows(node, data, move_nodes.along(node, places, data.shape[:2], time))


def _along(axis: int, size: int) -> tuple[int, int]:
    return (size, 1) if axis == 0 else (1, size)


def _rows(node: OnnxNode, data: BuiltTensor, positions: BuiltTensor) -> BuiltTensor:
    """The rows of the merged first two axes at positions along both axes."""
    merged = node.reshaped(data, (math.prod(data.shape[:2]), *data.shape[2:]))
    if positions.value is not None:
        result = move_nodes.picked(node, merged, 0, positions.value.ravel().astype(np.int64))
    else:
        flat = node.reshaped(positions, (merged.shape[0],))
        result = node.emit("take", TakeAttrs(0), (merged, flat))
    return node.reshaped(result, data.shape)


IMPORTERS = {
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "ReverseSequence": _reverse_sequence,
    "SpaceToDepth": _space_to_depth,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
}
