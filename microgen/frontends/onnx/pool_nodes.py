"""Pools over one to three spatial axes as nn.max_pool2d and nn.avg_pool2d, in NHWC.

Greatest values and means of more than two axes are computed along one axis after the other. A
dilated window along an axis is a plain window over every ``dilation``-th cell. If the size is a
multiple of the dilation, these cells are one axis of a view.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.move_nodes import cut, padded
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.windows import OnnxWindow, pair
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops import limits
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs

Pool = Callable[[OnnxNode, BuiltTensor, OnnxWindow], BuiltTensor]
_IMAGE = 2  # spatial axes


def greatest(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
    """The greatest values of data [N, axes..., C]; padding is ignored."""
    if max(window.dilations) == 1:
        return _along(node, data, window, _greatest)
    for axis in range(len(window.kernel)):
        least = limits.least(data.dtype.numpy)
        data = _dilated(node, data, _only(window, axis), axis, least, _greatest)
    return data


def mean(
    node: OnnxNode, data: BuiltTensor, window: OnnxWindow, *, counts_padding: bool
) -> BuiltTensor:
    """The means of data [N, axes..., C]. Padding is included as zeros or excluded. Cells past the
    padding, which ``ceil_mode`` adds, are always excluded.
    """
    if counts_padding:
        # The op excludes its own padding, so zeros that count become data.
        pads, none = zip(window.before, window.after, strict=True), (0,) * len(window.kernel)
        data = padded(node, data, ((0, 0), *pads, (0, 0)))
        window = dataclasses.replace(window, before=none, after=none)
    if max(window.dilations) == 1:
        return _along(node, data, window, _mean)
    for axis in range(len(window.kernel)):
        own = _only(window, axis)
        means = _dilated(node, data, own, axis, 0.0, _mean)
        data = _counted(node, means, own, data.shape[axis + 1], axis)
    return data


def total(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
    """The sums of data [N, axes..., C]."""
    # A mean over whole windows times the number of taps is the sum.
    whole = dataclasses.replace(window, after=window.ends, extra=(0,) * len(window.extra))
    means = mean(node, data, whole, counts_padding=True)
    return binary(node, "multiply", means, float(math.prod(window.kernel)))


def _along(node: OnnxNode, data: BuiltTensor, window: OnnxWindow, pool: Pool) -> BuiltTensor:
    """The pool over up to three axes, none of them dilated."""
    rank = len(window.kernel)
    if rank == 1:
        batches, width, channels = data.shape
        image = node.reshaped(data, (batches, 1, width, channels))
        result = pool(node, image, window.with_height())
        return node.reshaped(result, (batches, *window.places, channels))
    if rank == _IMAGE:
        return pool(node, data, window)
    batches, depth, height, width, channels = data.shape
    images = node.reshaped(data, (batches * depth, height, width, channels))
    flat = pool(node, images, window.part(slice(1, None)))
    volume = node.reshaped(flat, (batches, depth, *flat.shape[1:]))
    # The depth is the height of an image, whose width is all later axes.
    image = node.reshaped(volume, (batches, depth, math.prod(flat.shape[1:3]), channels))
    result = pool(node, image, _with_width(_only(window, 0)))
    return node.reshaped(result, (batches, result.shape[1], *flat.shape[1:]))


def _only(window: OnnxWindow, axis: int) -> OnnxWindow:
    """The window along one axis."""
    return window.part(slice(axis, axis + 1))


def _with_width(window: OnnxWindow) -> OnnxWindow:
    """The window of one axis as a window of two, over an image of any width."""
    return window.with_height().part(slice(None, None, -1))


def _dilated(
    node: OnnxNode, data: BuiltTensor, window: OnnxWindow, axis: int, value: float, pool: Pool
) -> BuiltTensor:
    """The pool along one axis, with ``value`` as the padding."""
    (step,), (kernel,), (places,) = window.dilations, window.kernel, window.places
    pads = [(0, 0)] * len(data.shape)
    before, after = window.before[0], window.ends[0]
    size = before + data.shape[axis + 1] + after
    # If the size is a multiple of the dilation, every dilation-th cell is on one axis of a view.
    pads[axis + 1] = (before, after + -size % step)
    whole = padded(node, data, pads, value)
    shape, at = whole.shape, axis + 1
    rows = shape[at] // step
    apart = (math.prod(shape[:at]), rows, step * math.prod(shape[at + 1 : -1]), shape[-1])
    plain = OnnxWindow((kernel,), (1,), (1,), (0,), (0,), (0,), (rows - kernel + 1,))
    result = pool(node, node.reshaped(whole, apart), _with_width(plain))
    dense = node.reshaped(result, (*shape[:at], result.shape[1] * step, *shape[at + 1 :]))
    return cut(node, dense, at, 0, places, window.strides[0])


def _counted(
    node: OnnxNode, means: BuiltTensor, window: OnnxWindow, size: int, axis: int
) -> BuiltTensor:
    """Means over whole windows, some of whose cells are excluded zeros, converted to means over the
    other cells.
    """
    (kernel,), (step,) = window.kernel, window.dilations
    starts = window.strides[0] * np.arange(window.places[0]) - window.before[0]
    # The first tap in the data, and the first one after it: the quotients are rounded up.
    first, after = -(starts // step), -((starts - size) // step)
    counts = (after.clip(max=kernel) - first.clip(0)).clip(1).astype(np.float32)
    if (counts == kernel).all():
        return means
    # Each mean was divided by all taps, and its sum is right, because the excluded cells are 0.
    factors = np.float32(kernel) / counts
    shape = (-1, *(1,) * (len(means.shape) - 2 - axis))
    return binary(node, "multiply", means, node.constant(factors.reshape(shape), "counts"))


def _greatest(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
    is_float = data.dtype is DType.FLOAT32
    activation = Activation.UNLIMITED if is_float else Activation.NONE
    attrs = MaxPool2DAttrs(pair(window.kernel), pair(window.strides), window.padding, activation)
    return node.emit("nn.max_pool2d", attrs, (data,), hint="NHWC")


def _mean(node: OnnxNode, data: BuiltTensor, window: OnnxWindow) -> BuiltTensor:
    sizes = (pair(window.kernel), pair(window.strides), window.padding)
    attrs = AvgPool2DAttrs(*sizes, Activation.UNLIMITED)
    return node.emit("nn.avg_pool2d", attrs, (data,), hint="NHWC")
