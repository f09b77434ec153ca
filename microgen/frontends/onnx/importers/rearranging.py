"""Operators that reorder or repeat the elements of a tensor."""

from __future__ import annotations

import math

import numpy as np

from microgen.frontends.onnx import moves
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.ir.graph import Array
from microgen.ops.where import WhereAttrs


def _transpose(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    rank = len(data.shape)
    axes = arguments.axes(node, node.ints("perm", tuple(reversed(range(rank)))), rank)
    if len(axes) != rank:
        raise node.invalid(f"has the perm {list(axes)} for {data.type}")
    return moves.transposed(node, data, axes)


def _expand(node: OnnxNode) -> Tensor:
    data, wanted = node.tensor(0), node.declared_for(1) or node.ints_of("shape", 1) or ()
    if len(wanted) > moves.MOST_AXES:
        raise node.unsupported(f"has {len(wanted)} axes", supported=f"up to {moves.MOST_AXES}")
    try:
        shape = np.broadcast_shapes(data.shape, wanted)
    except ValueError:
        raise node.invalid(f"expands {data.type} to {list(wanted)}") from None
    return moves.broadcast(node, data, moves.shape_of(node, shape, data.dtype).shape)


def _tile(node: OnnxNode) -> Tensor:
    """Repetitions become new axes, each before the axis that is repeated."""
    data = node.tensor(0)
    counts = _declared_counts(node, data) or node.ints_of("repeats", 1) or ()
    if len(counts) != len(data.shape):
        raise node.invalid(f"repeats {data.type} {list(counts)} times; a count per axis is needed")
    sizes = [count * size for count, size in zip(counts, data.shape, strict=True)]
    shape = moves.shape_of(node, sizes, data.dtype).shape
    repeated = [k for k, count in enumerate(counts) if count != 1]
    apart, wide = list[int](), list[int]()
    for axis, (count, size) in enumerate(zip(counts, data.shape, strict=True)):
        apart += [1, size] if axis in repeated else [size]
        wide += [count, size] if axis in repeated else [size]
    return node.reshaped(moves.broadcast(node, node.reshaped(data, apart), wide), shape)


def _declared_counts(node: OnnxNode, data: Tensor) -> tuple[int, ...] | None:
    """The number of repetitions that makes the declared shape of the data's."""
    shape = node.declared_for(1)
    if shape is None or len(shape) != len(data.shape):
        return None
    if any(size % own for size, own in zip(shape, data.shape, strict=True)):
        raise node.invalid(f"repeats {data.type} to {list(shape)}")
    return tuple(size // own for size, own in zip(shape, data.shape, strict=True))


def _depth_to_space(node: OnnxNode) -> Tensor:
    data, block, mode = *_blocks(node), str(node.attr("mode", "DCR"))
    n, channels, height, width = data.shape
    depth = channels // block**2
    if mode not in ("DCR", "CRD") or channels % block**2:
        raise node.invalid(f"has the mode {mode!r} and blocks of {block} for {data.type}")
    image, pixel = node.laid_out(data, "NCHW", "NHWC"), (block, block, depth)
    axes = (0, 1, 3, 2, 4, 5)
    if mode == "CRD":
        pixel, axes = (depth, block, block), (0, 1, 4, 2, 5, 3)
    moved = moves.transposed(node, node.reshaped(image, (n, height, width, *pixel)), axes)
    found = node.reshaped(moved, (n, height * block, width * block, depth))
    return node.laid_out(found, "NHWC", "NCHW")


def _space_to_depth(node: OnnxNode) -> Tensor:
    data, block, mode = *_blocks(node), str(node.attr("mode", "DCR"))
    n, depth, height, width = data.shape
    if mode not in ("DCR", "CRD") or height % block or width % block:
        raise node.invalid(f"has the mode {mode!r} and blocks of {block} for {data.type}")
    rows, columns = height // block, width // block
    image = node.laid_out(data, "NCHW", "NHWC")
    axes = (0, 1, 3, 2, 4, 5) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    apart = node.reshaped(image, (n, rows, block, columns, block, depth))
    moved = moves.transposed(node, apart, axes)
    found = node.reshaped(moved, (n, rows, columns, depth * block**2))
    return node.laid_out(found, "NHWC", "NCHW")


def _blocks(node: OnnxNode) -> tuple[Tensor, int]:
    data, block = node.tensor(0), int(node.attr("blocksize"))
    if len(data.shape) != 4 or not 1 <= block <= data.type.size:
        raise node.invalid(f"has blocks of {block} for {data.type}; [N, C, H, W] is expected")
    return data, block


def _trilu(node: OnnxNode) -> Tensor:
    """A choice between the data and zeros by a constant mask."""
    data, k = node.tensor(0), node.ints_of("k", 1) or (0,)
    if len(data.shape) < 2 or len(k) != 1:
        raise node.invalid(f"has the input {data.type} and k {list(k)}; a matrix is expected")
    rows, columns = data.shape[-2:]
    near = max(-rows - 1, min(columns + 1, k[0]))
    ones: Array = np.ones((rows, columns), np.bool_)
    mask = np.triu(ones, near) if node.attr("upper", 1) else np.tril(ones, near)
    zero = node.constant(np.zeros((), data.dtype.numpy), "zero", data.type.quant)
    return node.emit(
        "where",
        WhereAttrs(),
        (node.constant(mask, "mask"), data, zero),
        dtype=data.dtype,
        quant=data.type.quant,
    )


def _column_sizes(node: OnnxNode) -> tuple[Tensor, int, int]:
    """The data of ReverseSequence, with its batch and time axes."""
    data = node.tensor(0)
    batch, time = int(node.attr("batch_axis", 1)), int(node.attr("time_axis", 0))
    if {batch, time} != {0, 1} or len(data.shape) < 2:
        raise node.invalid(f"has the axes {batch} and {time} for {data.type}; 0 and 1 are expected")
    return data, batch, time


def _reverse_sequence(node: OnnxNode) -> Tensor:
    """Parts of the merged first two axes, at places that follow from constant lengths."""
    data, batch, time = _column_sizes(node)
    lengths = node.constant_of(1, "lengths").ravel().astype(np.int64)
    steps = data.shape[time]
    if len(lengths) != data.shape[batch] or lengths.min() < 0 or lengths.max() > steps:
        raise node.invalid(f"has the lengths {lengths[:8].tolist()} for {data.type}")
    t = np.arange(steps)[:, None]
    source = np.where(t < lengths, lengths - 1 - t, t)  # [time, batch]
    places = source * len(lengths) + np.arange(len(lengths))
    if time == 1:
        places = (np.arange(len(lengths)) * steps + source).T
    merged = node.reshaped(data, (math.prod(data.shape[:2]), *data.shape[2:]))
    return node.reshaped(moves.picked(node, merged, 0, places.ravel()), data.shape)


IMPORTERS = {
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "ReverseSequence": _reverse_sequence,
    "SpaceToDepth": _space_to_depth,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
}
