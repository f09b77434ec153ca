"""CONV_3D and CONV_3D_TRANSPOSE, as sums of convolutions over frames."""

from __future__ import annotations

import numpy as np
from tflite.Conv3DOptions import Conv3DOptions

from microgen.frontends.tflite.importers.arguments import (
    Importer,
    cut,
    dilation,
    integers,
    rounding,
    strides,
)
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import budget, geometry
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.cost import elementwise
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
    data, output = layer.data(0), layer.output()
    weight = _weight(layer, data, "filters")
    batch, depth, *image = data.shape
    bias = layer.bias(2, weight.shape[4])
    how = rounding(layer, "nn.conv2d", data, bias)
    window = (strides(layer), dilation(layer), layer.padding())
    taps = _taps(batch, depth, _places(layer, batch, depth, len(weight)))
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


def _conv3d_transpose(layer: FileLayer) -> BuiltTensor:
    """Output frame d is the sum over taps t of the transposed convolution with the kernel's frame
    t, of the input frame i with i * stride + t * dilation - pad = d."""
    # Source of the definition: TFLite reference/conv3d_transpose.h, Conv3DTranspose. Only the order
    # of its sums is another.
    data, output = layer.data(2), layer.output()
    weight, stated = _weight(layer, data, "channels"), integers(layer, 0)
    batch, depth, *image = data.shape
    rows, bias = _rows(layer, data, weight, stated), layer.bias(3, weight.shape[3])
    how = rounding(layer, "nn.conv2d_transpose", data)
    window = (strides(layer), layer.padding(), (stated[2], stated[3]))
    attrs = Conv2DTransposeAttrs(*window, Activation.UNLIMITED, how)
    frames = layer.reshaped(data, (batch * depth, *image))
    total = None
    for tap, numbers in zip(weight, rows, strict=True):
        # Filters come first in TRANSPOSE_CONV.
        kernel = layer.constant(np.ascontiguousarray(np.moveaxis(tap, 2, 0)), "kernel")
        part = layer.emit("nn.conv2d_transpose", attrs, (frames, kernel))
        operands = (_with_zeros(layer, part, [numbers]), layer.constant(numbers, "frames"))
        part = layer.emit("take", TakeAttrs(0), operands)
        both = AddAttrs(Activation.UNLIMITED)
        total = layer.emit("add", both, (total, part)) if total else part
    assert total is not None, "the weights have an element"
    # The bias is the last term, as in LiteRT, and only whole sums are clamped.
    last = bias or (layer.constant(np.zeros(stated[4], np.float32), "bias"),)
    total = layer.emit("add", AddAttrs(layer.activation()), (total, *last))
    return layer.emit("reshape", ReshapeAttrs(stated), (total,), output)


def _rows(
    layer: FileLayer, data: BuiltTensor, weight: Array, stated: tuple[int, ...]
) -> list[Array]:
    """For each tap, the input frame of each output frame, as ``_taps`` counts them. ModelError or
    UnsupportedError if the ``stated`` shape of the output or the dilation does not fit."""
    batch, depth, *_ = data.shape
    if len(stated) != 5 or (stated[0], stated[4]) != (batch, weight.shape[3]):
        raise layer.invalid(
            f"asks for the shape {cut(stated)}; {batch} volumes of {weight.shape[3]} channels are "
            "expected"
        )
    if dilation(layer) != (1, 1):
        raise layer.unsupported(
            f"has the dilation {dilation(layer)}", supported="dilations of the depth alone"
        )
    places = _places(layer, batch, stated[1], len(weight))
    if places[0].size != depth:
        raise layer.invalid(
            f"has data of depth {depth}; a convolution of depth {stated[1]} has {places[0].size}"
        )
    return _taps(batch, depth, _sources(places, stated[1]))


def _sources(places: list[Array], depth: int) -> list[Array]:
    """For each tap and each of ``depth`` places, the frame whose ``places`` it is, or -1."""
    found = [np.full(depth, -1) for _ in places]
    for sources, place in zip(found, places, strict=True):
        is_inside = (place >= 0) & (place < depth)
        sources[place[is_inside]] = np.flatnonzero(is_inside)
    return found


def _weight(layer: FileLayer, data: BuiltTensor, last: str) -> Array:
    """The weights, whose channels are their ``last`` axis or the one before it."""
    weight = layer.constant_value(1)
    layer.expect(data, DType.FLOAT32)
    layer.expect_rank(data, 5)
    is_right = weight.ndim == 5 and weight.dtype == np.float32 and weight.size
    axis = 4 if last == "channels" else 3
    if not is_right or weight.shape[axis] != data.shape[4]:
        ends = (data.shape[4], "filters") if axis == 3 else ("filters", data.shape[4])
        raise layer.invalid(
            f"has weights {weight.dtype}{cut(weight.shape)} for data {data.type}; float32[depth, "
            f"height, width, {ends[0]}, {ends[1]}] is expected"
        )
    if len(weight) > _MOST_TAPS:
        raise layer.unsupported(
            f"has a kernel of depth {len(weight)}", supported=f"depths up to {_MOST_TAPS}"
        )
    return weight


def _places(layer: FileLayer, batch: int, depth: int, kernel: int) -> list[Array]:
    """For each tap, the frame that a convolution of ``depth`` frames reads for each output frame.
    Some are outside of the depth."""
    steps = layer.positive_pair("StrideD", "DilationDFactor")
    try:
        (before, *_), (size, _) = geometry.fitted(
            *(layer.padding(), (depth, 1), (kernel, 1), (steps[0], 1), (steps[1], 1))
        )
    except ValueError as error:
        raise layer.invalid(f"has an impossible depth: {error}") from error
    both = (2 * kernel * batch * (size + depth),)  # they, their inverse, and those of _taps
    budget.spend(elementwise(None, (), (ArrayType(both, DType.INT64),)), layer.where)
    first = np.arange(size) * steps[0] - before
    return [first + tap * steps[1] for tap in range(kernel)]


def _taps(batch: int, depth: int, places: list[Array]) -> list[Array]:
    """The ``places`` of each tap in all volumes: int32 numbers, and batch * depth for a place
    outside of the depth, which means a frame of zeros."""
    first = np.arange(batch)[:, None] * depth
    taps = []
    for place in places:
        is_inside = (place >= 0) & (place < depth)
        numbers = np.where(is_inside, first + place, batch * depth)
        taps.append(numbers.reshape(-1).astype(np.int32))
    return taps


def _with_zeros(layer: FileLayer, frames: BuiltTensor, taps: list[Array]) -> BuiltTensor:
    """The frames and, if a tap reads one, a frame of zeros at their end."""
    count, *image = frames.shape
    if not any((places == count).any() for places in taps):
        return frames
    return layer.emit("nn.pad", PadAttrs(((0, 1), *[(0, 0)] * len(image)), 0.0), (frames,))


IMPORTERS = {
    "CONV_3D": Importer(_conv3d, (2, 3), Conv3DOptions),
    "CONV_3D_TRANSPOSE": Importer(_conv3d_transpose, (3, 4), Conv3DOptions),
}
