"""Operators that put elements or rows into a tensor, at places that indices give."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.arithmetic.terms import Activation
from microgen.frontends.onnx import indexing, moves
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.ir.graph import DType
from microgen.ops.add import AddAttrs
from microgen.ops.floor_division import FloorDivisionAttrs
from microgen.ops.pad import PadAttrs
from microgen.ops.scatter import ScatterAttrs

_REDUCTIONS = ("none", "add", "mul", "max", "min")


def scattered(
    node: OnnxNode, data: Tensor, positions: Tensor, updates: Tensor, inner: Sequence[int] = ()
) -> Tensor:
    """The data, of ``inner`` rows, with a row of updates at each position. Data that is the same
    everywhere is one number."""
    reduction = str(node.attr("reduction", "none"))
    if reduction not in _REDUCTIONS:
        raise node.unsupported(f"has the reduction {reduction!r}", supported=", ".join(_REDUCTIONS))
    size = math.prod(inner)
    shape, count = (data.type.size // size, *inner), positions.type.size
    rows = _filler(node, data) or node.reshaped(data, shape)
    places = node.reshaped(positions, (count,))
    found = node.emit(
        "scatter",
        ScatterAttrs(shape, reduction),
        (rows, places, node.reshaped(updates, (count, *inner))),
    )
    return node.reshaped(found, data.shape)


def _filler(node: OnnxNode, data: Tensor) -> Tensor | None:
    """The only value of a constant."""
    if data.value is None or data.type.size == 1:
        return None
    flat = data.value.ravel()
    if flat.tobytes() != np.full_like(flat, flat[0]).tobytes():
        return None
    return node.constant(flat[:1].reshape(()), "filler", data.type.quant)


def _scatter_elements(node: OnnxNode) -> Tensor:
    data, indices, updates = node.tensor(0), indexing.indices_of(node, 1), node.tensor(2)
    axis = arguments.axis(node, len(data.shape), 0)
    if indices.shape != updates.shape:
        raise node.invalid(f"has indices {indices.type} for updates {updates.type}")
    positions = indexing.along(node, indices, data.shape, axis)
    return scattered(node, data, positions, updates)


def _scatter_nd(node: OnnxNode) -> Tensor:
    data, indices, updates = node.tensor(0), indexing.indices_of(node, 1), node.tensor(2)
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise node.invalid(f"has indices {indices.type} of {data.type}")
    inner = data.shape[depth:]
    if updates.shape != (*indices.shape[:-1], *inner):
        raise node.invalid(f"has updates {updates.type} at indices {indices.type} of {data.type}")
    positions = indexing.of_tuples(node, indices, data.shape[:depth])
    return scattered(node, data, positions, updates, inner)


def _tensor_scatter(node: OnnxNode) -> Tensor:
    """Rows from an index of each batch on. The axes after the one that the indices count along are
    those of a row."""
    data, updates = node.tensor(0), node.tensor(1)
    axis, mode = arguments.axis(node, len(data.shape), -2), str(node.attr("mode", "linear"))
    inner, count = data.shape[axis + 1 :], updates.shape[axis] if updates.shape else 0
    if mode not in ("linear", "circular"):
        raise node.unsupported(f"has the mode {mode!r}", supported="linear, circular")
    if axis < 1 or updates.shape != (*data.shape[:axis], count, *inner) or count < 1:
        raise node.invalid(f"has updates {updates.type} of {data.type} along axis {axis}")
    places = _batch_places(node, (data.shape[0], count))
    if mode == "circular":
        places = _circular(node, places, data.shape[axis])
    places = node.reshaped(places, (data.shape[0], *(1,) * (axis - 1), count))
    places = moves.broadcast(node, places, updates.shape[: axis + 1])
    positions = indexing.along(node, places, data.shape[: axis + 1], axis)
    return scattered(node, data, positions, updates, inner)


def _batch_places(node: OnnxNode, shape: tuple[int, int]) -> Tensor:
    """The place of each row of each batch."""
    steps = node.constant(np.arange(shape[1], dtype=np.int64).reshape(1, -1), "steps")
    if node.optional(2) is None:
        return moves.broadcast(node, steps, shape)
    first = node.reshaped(indexing.indices_of(node, 2), (shape[0], 1))
    steps = moves.converted(node, steps, first.dtype)
    return node.emit("add", AddAttrs(Activation.NONE), (first, steps))


def _circular(node: OnnxNode, places: Tensor, size: int) -> Tensor:
    """Places after the end count from the front again."""
    narrow = moves.converted(node, places, DType.INT32)
    length = node.constant(np.array(size, np.int32), "length")
    return node.emit("floor_mod", FloorDivisionAttrs(), (narrow, length))


def _max_unpool(node: OnnxNode) -> Tensor:
    """Positions are those in the tensor that was pooled, in one row. A larger output has it at its
    beginning, and zeros after it."""
    data, indices = node.tensor(0), indexing.indices_of(node, 1)
    natural = moves.shape_of(node, _unpooled(node, data), data.dtype).shape
    wanted = node.ints_of("output_shape", 2) or natural
    if indices.shape != data.shape or len(wanted) != len(natural):
        raise node.invalid(f"has indices {indices.type} and the output shape {list(wanted)}")
    tuples = node.reshaped(indices, (*indices.shape, 1))
    positions = indexing.of_tuples(node, tuples, (math.prod(natural),))
    zeros = moves.filled(node, natural, np.zeros((), data.dtype.numpy))
    found = scattered(node, zeros, positions, data)
    pairs = zip(wanted, natural, strict=True)
    pads = tuple((0, size - own) for size, own in pairs)
    if any(after < 0 for _, after in pads):
        raise node.invalid(f"has the output shape {list(wanted)}; at least {list(natural)} is needed")
    return node.emit("nn.pad", PadAttrs(pads, 0), (found,)) if wanted != natural else found


def _unpooled(node: OnnxNode, data: Tensor) -> tuple[int, ...]:
    """The shape of the tensor that was pooled."""
    rank = arguments.spatial_rank(node, data)
    kernel = node.ints("kernel_shape")
    strides, pads = node.ints("strides", (1,) * rank), node.ints("pads", (0,) * 2 * rank)
    if len(kernel) != rank or len(strides) != rank or len(pads) != 2 * rank:
        raise node.invalid(f"has the kernel {kernel}, strides {strides}, pads {pads} for {rank} axes")
    sizes = zip(data.shape[2:], strides, kernel, pads[:rank], pads[rank:], strict=True)
    spatial = [(n - 1) * step - before - after + k for n, step, k, before, after in sizes]
    return (*data.shape[:2], *spatial)


IMPORTERS = {
    "MaxUnpool": _max_unpool,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
}
