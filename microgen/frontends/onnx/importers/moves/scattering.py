"""Operators that put elements or rows into a tensor, at places that indices give."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import binary, cast
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.windows import OnnxWindow
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops import budget
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from microgen.graph.ops.moves.scatter import ScatterAttrs

_REDUCTIONS = ("none", "add", "mul", "max", "min")


def scattered(
    node: OnnxNode,
    data: BuiltTensor,
    positions: BuiltTensor,
    updates: BuiltTensor,
    inner: Sequence[int] = (),
) -> BuiltTensor:
    """The data, of ``inner`` rows, with a row of updates at each position. Data with equal elements
    is kept as one number."""
    reduction = str(node.attr("reduction", "none"))
    if reduction not in _REDUCTIONS:
        raise node.unsupported(f"has the reduction {reduction!r}", supported=", ".join(_REDUCTIONS))
    size = math.prod(inner)
    shape, count = (data.type.size // size, *inner), positions.type.size
    rows = _filler(node, data) or node.reshaped(data, shape)
    places = node.reshaped(positions, (count,))
    result = node.emit(
        "scatter",
        ScatterAttrs(shape, reduction),
        (rows, places, node.reshaped(updates, (count, *inner))),
    )
    return node.reshaped(result, data.shape)


def _filler(node: OnnxNode, data: BuiltTensor) -> BuiltTensor | None:
    """The only value of a constant."""
    if data.value is None or data.type.size < 2:
        return None
    flat = data.value.ravel()
    # Bytes are compared, because NaN differs from itself, and -0 equals 0.
    if flat.tobytes() != np.full_like(flat, flat[0]).tobytes():
        return None
    return node.constant(flat[:1].reshape(()), "filler", data.type.quant)


def _scatter_elements(node: OnnxNode) -> BuiltTensor:
    data, indices, updates = node.tensor(0), move_nodes.indices_of(node, 1), node.tensor(2)
    axis = arguments.axis(node, len(data.shape), 0)
    if indices.shape != updates.shape:
        raise node.invalid(f"has indices {indices.type} for updates {updates.type}")
    positions = move_nodes.along(node, indices, data.shape, axis)
    return scattered(node, data, positions, updates)


def _scatter_nd(node: OnnxNode) -> BuiltTensor:
    data, indices, updates = node.tensor(0), move_nodes.indices_of(node, 1), node.tensor(2)
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise node.invalid(f"has indices {indices.type} of {data.type}")
    inner = data.shape[depth:]
    if updates.shape != (*indices.shape[:-1], *inner):
        raise node.invalid(f"has updates {updates.type} at indices {indices.type} of {data.type}")
    positions = move_nodes.of_tuples(node, indices, data.shape[:depth])
    return scattered(node, data, positions, updates, inner)


def _tensor_scatter(node: OnnxNode) -> BuiltTensor:
    """Rows are written into each batch from an index on. The axes after the indexed axis are the
    axes of a row.
    """
    data, updates = node.tensor(0), node.tensor(1)
    axis, mode = arguments.axis(node, len(data.shape), -2), str(node.attr("mode", "linear"))
    inner, count = data.shape[axis + 1 :], updates.shape[axis] if updates.shape else 0
    if mode not in ("linear", "circular"):
        raise node.unsupported(f"has the mode {mode!r}", supported="linear, circular")
    if axis < 1 or updates.shape != (*data.shape[:axis], count, *inner) or count < 1:
        raise node.invalid(f"has updates {updates.type} of {data.type} along axis {axis}")
    places = _batch_places(node, (data.shape[0], count))
    if mode == "circular":
        # Places after the end count from the front again.
        length = node.constant(np.array(data.shape[axis], np.int32), "length")
        operands = (cast(node, places, DType.INT32), length)
        places = node.emit("floor_mod", FloorDivisionAttrs(), operands)
    # The places of a batch are the same for all axes between batch and the indexed axis.
    places = node.reshaped(places, (data.shape[0], *(1,) * (axis - 1), count))
    places = move_nodes.broadcast(node, places, updates.shape[: axis + 1])
    positions = move_nodes.along(node, places, data.shape[: axis + 1], axis)
    return scattered(node, data, positions, updates, inner)


def _batch_places(node: OnnxNode, shape: tuple[int, int]) -> BuiltTensor:
    steps = node.constant(np.arange(shape[1], dtype=np.int64).reshape(1, -1), "steps")
    if node.optional(2) is None:
        return move_nodes.broadcast(node, steps, shape)
    first = node.reshaped(move_nodes.indices_of(node, 2), (shape[0], 1))
    steps = cast(node, steps, first.dtype)
    return binary(node, "add", first, steps)


def _max_unpool(node: OnnxNode) -> BuiltTensor:
    data, indices = node.tensor(0), move_nodes.indices_of(node, 1)
    natural = move_nodes.shape_of(node, _unpooled(node, data), data.dtype).shape
    wanted = node.ints_of("output_shape", 2) or natural
    if indices.shape != data.shape or len(wanted) != len(natural):
        raise node.invalid(f"has indices {indices.type} and the output shape {list(wanted)}")
    tuples = node.reshaped(indices, (*indices.shape, 1))
    positions = move_nodes.of_tuples(node, tuples, (math.prod(natural),))
    zeros = move_nodes.filled(node, natural, np.zeros((), data.dtype.numpy))
    result = scattered(node, zeros, positions, data)
    # Positions refer to the tensor that was pooled. A larger output has it at its beginning, and
    # zeros after it.
    pads = [(0, size - own) for size, own in zip(wanted, natural, strict=True)]
    if min(after for _, after in pads) < 0:
        raise node.invalid(
            f"has the output shape {list(wanted)}; at least {list(natural)} is needed"
        )
    return move_nodes.padded(node, result, pads)


def _unpooled(node: OnnxNode, data: BuiltTensor) -> tuple[int, ...]:
    """The shape of the tensor that was pooled."""
    rank = arguments.spatial_rank(node, data)
    kernel = node.ints("kernel_shape")
    strides, pads = node.ints("strides", (1,) * rank), node.ints("pads", (0,) * 2 * rank)
    if len(kernel) != rank or len(strides) != rank or len(pads) != 2 * rank:
        raise node.invalid(
            f"has the kernel {kernel}, strides {strides}, pads {pads} for {rank} axes"
        )
    sizes = zip(data.shape[2:], strides, kernel, pads[:rank], pads[rank:], strict=True)
    spatial = [(n - 1) * step - before - after + k for n, step, k, before, after in sizes]
    return (*data.shape[:2], *spatial)


def _col2im(node: OnnxNode) -> BuiltTensor:
    """Elements of blocks are added at their places in the padded image, all channels of a place
    together."""
    data, image, blocks = node.tensor(0), node.ints_of("image_shape", 1) or (), _blocks(node)
    size, count = math.prod(blocks.kernel), math.prod(blocks.places)
    if len(data.shape) != 3 or data.shape[1] % size or data.shape[2] != count:
        raise node.invalid(f"has the columns {data.type} for {count} blocks of {size} elements")
    channels = data.shape[1] // size
    planes = data.shape[0] * channels
    sizes = _padded(image, blocks)
    padded = move_nodes.shape_of(node, (*sizes, planes), data.dtype).shape
    budget.spend(ReferenceCost(64 * size * count, 16 * size * count), node.where)
    places = node.constant(_places(sizes, blocks).ravel().astype(np.int32), "places")
    rows = move_nodes.reordered(node, node.reshaped(data, (planes, size * count)), (1, 0))
    zero = node.constant(np.zeros((), data.dtype.numpy), "zero")
    attrs = ScatterAttrs((math.prod(sizes), planes), "add")
    result = node.reshaped(node.emit("scatter", attrs, (zero, places, rows)), padded)
    rank = len(image)
    # The padding is cut off after all blocks were added.
    begin = (*blocks.before, 0)
    result = move_nodes.sliced(node, result, begin, (1,) * len(begin), (*image, planes))
    result = move_nodes.reordered(node, result, (rank, *range(rank)))
    return node.reshaped(result, (data.shape[0], channels, *image))


def _blocks(node: OnnxNode) -> OnnxWindow:
    """The blocks as positions of a window over the image."""
    image, block = node.ints_of("image_shape", 1) or (), node.ints_of("block_shape", 2) or ()
    rank = len(image)
    strides, dilations = (node.ints(name, (1,) * rank) for name in ("strides", "dilations"))
    pads, each = node.ints("pads", (0,) * 2 * rank), (image, block, strides, dilations)
    is_whole = len(pads) == 2 * rank and all(len(values) == rank for values in each)
    if not is_whole or not rank or min(map(min, each)) < 1 or min(pads) < 0:
        raise node.invalid(f"has blocks of {list(block)} of an image of {list(image)}")
    window = OnnxWindow(block, strides, dilations, pads[:rank], pads[rank:], (0,) * rank, ())
    axes = zip(_padded(image, window), window.covers, strides, strict=True)
    counts = tuple((size - cover) // step + 1 for size, cover, step in axes)
    if min(counts) < 1 or rank > 3:
        raise node.unsupported(
            f"has an image of {list(image)}", supported="1 to 3 axes with blocks"
        )
    return dataclasses.replace(window, places=counts)


def _padded(image: Sequence[int], blocks: OnnxWindow) -> tuple[int, ...]:
    """The sizes of the image with its padding."""
    return tuple(map(sum, zip(image, blocks.before, blocks.after, strict=True)))


def _places(sizes: Sequence[int], blocks: OnnxWindow) -> Array:
    """The place in the padded image of each element of each block: [elements, blocks]."""
    flat = np.zeros((1, 1), np.int64)
    for axis, size in enumerate(sizes):
        # The padding is part of the image here, so no cell is negative.
        cells = blocks.cells(axis) + blocks.before[axis]
        flat = flat[:, None, :, None] * size + cells[None, :, None, :]
        flat = flat.reshape(flat.shape[0] * flat.shape[1], -1)
    return flat


IMPORTERS = {
    "Col2Im": _col2im,
    "MaxUnpool": _max_unpool,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
}
