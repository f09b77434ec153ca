"""Pools: AveragePool, MaxPool, LpPool, and global pools."""

from __future__ import annotations

import functools
import math

import numpy as np

from microgen.frontends.onnx import composing, convolution_nodes, move_nodes, pool_nodes, windows
from microgen.frontends.onnx.composing import Axes, binary, cast
from microgen.frontends.onnx.importers import Importer, arguments, reductions
from microgen.frontends.onnx.importers.reductions import Reduce
from microgen.frontends.onnx.move_nodes import joined, padded
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.pool_nodes import Pool
from microgen.frontends.onnx.windows import OnnxWindow
from microgen.frontends.quantization import reinterpreted
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Array, DType, Quant
from microgen.graph.ops import limits
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, MaxAttrs

_NARROW = (DType.INT8, DType.INT16, DType.FLOAT32)  # the dtypes of nn.max_pool2d
_MOST_TAPS = 64  # of a MaxPool with positions: each is a node


def _spatial(node: OnnxNode, data: BuiltTensor, pool: Pool) -> BuiltTensor:
    """The pool of data [N, axes..., C], moved from and to [N, C, axes...]."""
    window = _window(node, data)
    result = pool(node, convolution_nodes.channels_last(node, data), window)
    return convolution_nodes.channels_second(node, result)


def _window(node: OnnxNode, data: BuiltTensor) -> OnnxWindow:
    rank = arguments.spatial_rank(node, data)
    window = windows.window(node, data.shape[2:], windows.kernel_shape(node, rank))
    if not windows.auto_pad(node).startswith("SAME"):
        return window
    axes = zip(data.shape[2:], window.places, window.strides, window.covers, strict=True)
    skips = any((n - 1) * stride + cover < size for size, n, stride, cover in axes)
    # ONNX Runtime reads SAME with dilations, or without any padding, in a way of its own.
    if max(window.dilations) > 1 or skips:
        raise node.unsupported(
            f"has auto_pad with the kernel {list(window.kernel)}, the strides "
            f"{list(window.strides)} and the dilations {list(window.dilations)}",
            supported="explicit pads with dilations and with kernels smaller than strides",
        )
    return window


def _average(node: OnnxNode) -> BuiltTensor:
    counts = bool(node.attr("count_include_pad", 0))
    pool = functools.partial(pool_nodes.mean, counts_padding=counts)
    return _spatial(node, node.tensor(0, DType.FLOAT32), pool)


def _lp(node: OnnxNode) -> BuiltTensor:
    """The p-norm of each window. Source: ONNX's specification of LpPool."""
    data, p = node.tensor(0, DType.FLOAT32), _order(node)

    def pool(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
        powers = composing.magnitude(node, data, p)
        return composing.root(node, pool_nodes.total(node, powers, window), p)

    return _spatial(node, data, pool)


def _order(node: OnnxNode) -> float:
    p = float(node.attr("p", 2))
    if not (p >= 1 and math.isfinite(p)):
        raise node.invalid(f"has the p {p:g}; a number from 1 on is expected")
    return p


def _max(node: OnnxNode) -> Value:
    data = node.tensor(0, *_NARROW, DType.UINT8)
    if len(node.outputs) > 1 and node.outputs[1]:
        return _with_positions(node, data)
    return _spatial(node, data, _greatest)


def _greatest(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
    """The pool of greatest values, for numbers of any dtype."""
    if data.dtype is DType.FLOAT32 or data.type.quant is not None:
        return pool_nodes.greatest(node, data, window)
    # Integers get a scale, which the pool ignores; uint8 is computed in int16.
    wide = cast(node, data, DType.INT16) if data.dtype is DType.UINT8 else data
    result = pool_nodes.greatest(node, reinterpreted(node, wide, Quant((1.0,), (0,))), window)
    return cast(node, reinterpreted(node, result, None), data.dtype)


def _with_positions(node: OnnxNode, data: BuiltTensor) -> tuple[BuiltTensor, BuiltTensor]:
    """The greatest values and their positions in the whole data [N, C, axes...]."""
    window = _window(node, data)
    if math.prod(window.kernel) > _MOST_TAPS:
        raise node.unsupported(
            f"has positions of a kernel {list(window.kernel)}",
            supported=f"Indices of up to {_MOST_TAPS} taps",
        )
    # Extremes over an axis are computed in float32 or int32.
    numbers = data if data.dtype is DType.FLOAT32 else cast(node, data, DType.INT32)
    # Each tap of the window is a slice of the data, and a node.
    taps = _taps(node, numbers, window)
    greatest = node.emit("max", MaxAttrs((0,), False, from_infinity=True), (taps,))
    which = node.emit("argmax", ArgMaxAttrs(0), (taps,), dtype=DType.INT32, quant=None)
    steps = _steps(node, data.shape[2:])
    offsets = node.constant(_offsets(window, steps), "offsets")
    chosen = node.emit("take", TakeAttrs(0, 0), (offsets, which), dtype=DType.INT32)
    # A position is the first tap's position plus the distance to the chosen tap.
    first = node.constant(_firsts(window, steps), "firsts")
    places = binary(node, "add", chosen, first)
    # Positions count through all planes [N, C] of the data.
    if math.prod(data.shape[:2]) > 1:
        places = binary(node, "add", places, node.constant(_planes(data), "planes"))
    return cast(node, greatest, data.dtype), cast(node, places, DType.INT64)


def _taps(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
    """The values that each tap reads at all places, [taps, N, C, places...]."""
    pads = ((0, 0), (0, 0), *zip(window.before, window.ends, strict=True))
    whole = padded(node, data, pads, limits.least(data.dtype.numpy))
    shape, strides = (*data.shape[:2], *window.places), (1, 1, *window.strides)
    slices = []
    for tap in np.ndindex(*window.kernel):
        begin = (0, 0, *(int(t) * d for t, d in zip(tap, window.dilations, strict=True)))
        slices.append(
            node.reshaped(move_nodes.sliced(node, whole, begin, strides, shape), (1, *shape))
        )
    return joined(node, slices, 0)


def _steps(node: OnnxNode, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The distance in positions from one cell of each axis to the next."""
    # Column-major: the first spatial axis is the densest.
    if node.attr("storage_order", 0):
        return tuple(math.prod(sizes[:axis]) for axis in range(len(sizes)))
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def _offsets(window: OnnxWindow, steps: tuple[int, ...]) -> Array:
    """The position of each tap, relative to the first tap."""
    strides = [d * s for d, s in zip(window.dilations, steps, strict=True)]
    return np.array([np.dot(tap, strides) for tap in np.ndindex(*window.kernel)], np.int32)


def _firsts(window: OnnxWindow, steps: tuple[int, ...]) -> Array:
    """The position of the first tap at each place, in the plane of a channel; it may be before the
    plane, in the padding."""
    axes = zip(window.places, window.strides, window.before, steps, strict=True)
    along = [(np.arange(n) * stride - before) * step for n, stride, before, step in axes]
    grid = np.meshgrid(*along, indexing="ij")
    return np.asarray(sum(grid), np.int32)


def _planes(data: BuiltTensor) -> Array:
    """The position of the first element of each plane of the data: [N, C, 1...]."""
    batches, channels, *sizes = data.shape
    starts = np.arange(batches * channels, dtype=np.int32) * math.prod(sizes)
    return starts.reshape(batches, channels, *(1 for _ in sizes))


def _global(reduce: Reduce) -> Importer:
    def importer(node: OnnxNode) -> BuiltTensor:
        data = node.tensor(0, DType.FLOAT32)
        arguments.spatial_rank(node, data)
        return reduce(node, data, tuple(range(2, len(data.shape))), True)

    return importer


def _global_lp(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    p = _order(node)
    total = composing.total(node, composing.magnitude(node, data, p), axes, keep)
    return composing.root(node, total, p)


IMPORTERS = {
    "AveragePool": _average,
    "GlobalAveragePool": _global(reductions.mean),
    "GlobalLpPool": _global(_global_lp),
    "GlobalMaxPool": _global(reductions.greatest),
    "LpPool": _lp,
    "MaxPool": _max,
}
