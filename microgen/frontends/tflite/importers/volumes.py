"""CONV_3D, as a sum of convolutions over frames."""

from __future__ import annotations

import numpy as np
from tflite.Conv3DOptions import Conv3DOptions

from microgen.frontends.tflite.importers.arguments import Importer, cut, dilation, rounding, strides
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops import geometry
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

_MOST_TAPS = 64  # along the depth: each is a convolution


def _conv3d(layer: FileLayer) -> BuiltTensor:
    """Output frame d is the sum over taps t of the convolution of input frame d * stride + t *
    dilation - pad with the kernel's frame t."""
    # Source of the definition: TFLite reference/conv3d.h, Conv3D. Only the order of its sums is
    # another.
    data, output, weight = layer.data(0), layer.output(), _weight(layer)
    batch, depth, *image = data.shape
    bias = layer.bias(2, weight.shape[4])
    how = rounding(layer, "nn.conv2d", data, bias)
    window = (strides(layer), dilation(layer), layer.padding())
    taps = _taps(layer, batch, depth, weight.shape[0])
    frames = _with_zeros(layer, layer.reshaped(data, (batch * depth, *image)), taps)
    total = None
    for tap, places in enumerate(taps):
        # Only whole sums are clamped.
        is_last = tap == len(taps) - 1
        activation = layer.activation() if is_last else Activation.UNLIMITED
        attrs = Conv2DAttrs(*window, Activation.UNLIMITED if total else activation, how)
        # Filters come first in CONV_2D.
        kernel = layer.constant(np.ascontiguousarray(np.moveaxis(weight[tap], 3, 0)), "kernel")
        taken = layer.emit("take", TakeAttrs(0), (frames, layer.constant(places, "frames")))
        part = layer.emit("nn.conv2d", attrs, (taken, kernel, *(() if total else bias)))
        total = layer.emit("add", AddAttrs(activation), (total, part)) if total else part
    assert total is not None, "the weights have an element"
    shape = (batch, places.size // batch, *total.shape[1:])
    return layer.emit("reshape", ReshapeAttrs(shape), (total,), output)


def _weight(layer: FileLayer) -> Array:
    data, weight = layer.data(0), layer.constant_value(1)
    layer.expect(data, DType.FLOAT32)
    layer.expect_rank(data, 5)
    is_right = weight.ndim == 5 and weight.dtype == np.float32 and weight.size
    if not is_right or weight.shape[3] != data.shape[4]:
        raise layer.invalid(
            f"has weights {weight.dtype}{cut(weight.shape)} for data {data.type}; float32[depth, "
            f"height, width, {data.shape[4]}, filters] is expected"
        )
    if len(weight) > _MOST_TAPS:
        raise layer.unsupported(
            f"has a kernel of depth {len(weight)}", supported=f"depths up to {_MOST_TAPS}"
        )
    return weight


def _taps(layer: FileLayer, batch: int, depth: int, kernel: int) -> list[Array]:
    """For each tap, the frames that it reads for all output frames: int32 numbers, and batch *
    depth for a frame of zeros."""
    steps = layer.positive_pair("StrideD", "DilationDFactor")
    try:
        (before, *_), (size, _) = geometry.fitted(
            *(layer.padding(), (depth, 1), (kernel, 1), (steps[0], 1), (steps[1], 1))
        )
    except ValueError as error:
        raise layer.invalid(f"has an impossible depth: {error}") from error
    first = np.arange(batch)[:, None] * depth
    taps = []
    for tap in range(kernel):
        place = np.arange(size) * steps[0] + tap * steps[1] - before
        is_inside = (place >= 0) & (place < depth)
        taps.append(np.where(is_inside, first + place, batch * depth).reshape(-1).astype(np.int32))
    return taps


def _with_zeros(layer: FileLayer, frames: BuiltTensor, taps: list[Array]) -> BuiltTensor:
    """The frames and, if a tap reads one, a frame of zeros at their end."""
    count, *image = frames.shape
    if not any((places == count).any() for places in taps):
        return frames
    return layer.emit("nn.pad", PadAttrs(((0, 1), *[(0, 0)] * len(image)), 0.0), (frames,))


IMPORTERS = {"CONV_3D": Importer(_conv3d, (2, 3), Conv3DOptions)}
