"""Transposed 2-D convolutions: each pixel of the input, times the filters, is added to the
output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, Types
from microgen.graph.ops import bounds, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Padding, Pair, Shape, Shapes, layer
from microgen.graph.ops.convolution import convolution
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.geometry import output_size
from microgen.graph.ops.window import Along, axes, nhwc, spatial, taps, window_cost


@dataclass(frozen=True, slots=True)
class TransposeWindow(Attrs):
    """The attributes of a transposed convolution's window and of the clamp of its output.

    Tap (0, 0) of the filter at pixel (y, x) of the data falls on (y * strides[0], x * strides[1])
    of the full result. The output is the part of the full result that remains without the padding,
    of ``size`` (height, width). Where it extends beyond the full result, its values are empty sums.
    Strides and padding belong to the nn.conv2d in the opposite direction, and ``size`` is the size
    of its input.
    """

    strides: Pair
    padding: Padding
    size: Pair
    activation: Activation


@dataclass(frozen=True, slots=True)
class Conv2DTransposeHybridAttrs(TransposeWindow):
    """nn.conv2d_transpose_hybrid: a transposed 2-D convolution of float32 data with int8 weights,
    whose products are computed in integers.

    Inputs: float32 NHWC data, int8 OHWI weight, optional float32 bias [O]. Each image is quantized
    with a zero point. Each product is scaled to float32 before it is added.
    """


@dataclass(frozen=True, slots=True)
class Conv2DTransposeAttrs(TransposeWindow):
    """nn.conv2d_transpose: the products of each pixel with the filters, added to the output.

    Inputs: NHWC data, OHWI weight, optional bias [O], of the dtypes of nn.conv2d.
    """

    rounding: Rounding


def _infer(attrs: TransposeWindow, inputs: Types) -> Shapes:
    """The shape [N, *size, O]."""
    convolution.check_count("nn.conv2d_transpose", inputs)
    data, weight, *_ = inputs
    batches, _, _, channels = nhwc("input", data)
    filters, _, _, depth = nhwc("weight", weight)
    if depth != channels:
        raise ValueError(
            f"the filters have {depth} channels, the input {channels}; they must be equal"
        )
    convolution.check_bias(inputs, filters, "filter")
    size, kernel = spatial(data.shape), spatial(weight.shape)
    got = output_size(attrs.padding, attrs.size, kernel, attrs.strides, (1, 1))
    if got != size:
        raise ValueError(
            f"the input's height and width are {size}; a convolution of the output's {attrs.size} "
            f"with kernel {kernel}, strides {attrs.strides} and padding {attrs.padding} has {got}"
        )
    return ((batches, *attrs.size, filters),)


def _check(attrs: Conv2DTransposeAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout; or int8 or int16 with int8 weights, symmetric and per tensor or per
    filter. Sums of int8 products fit int32."""
    _, height, width, depth = inputs[1].shape
    # Only every stride-th tap of a row and of a column reaches an output pixel.
    products = -(-height // attrs.strides[0]) * -(-width // attrs.strides[1]) * depth
    return convolution.constraint(inputs, outputs[0], attrs.rounding, axis=0, products=products)


def _reference(attrs: Conv2DTransposeAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/integer_ops/transpose_conv.h; reference/transpose_conv.h."""
    data, weight, *_ = operands.inputs
    # float64 has the fast matrix product, and is exact for integers: 2**30 products fit.
    values = data.astype(np.float64) - operands.input_types[0].zero
    sums = transposed(values, weight.astype(np.float64), attrs)
    return convolution.finished(sums, operands, attrs.activation, attrs.rounding)


def transposed(values: Array, weight: Array, attrs: TransposeWindow) -> Array:
    """Sums of products [N, *size, O] of ``values`` and ``weight``, in their dtype."""
    totals = np.zeros((len(values), *attrs.size, len(weight)), values.dtype)
    for (y, x), pixels, cells in taps(*_axes(attrs, weight.shape)):
        totals[cells] += values[pixels] @ weight[:, y, x].T
    return totals


def _axes(attrs: TransposeWindow, weight: Shape) -> tuple[Along, Along]:
    """The axes of the nn.conv2d in the opposite direction, whose places are the data's pixels."""
    return axes(attrs.padding, attrs.size, spatial(weight), attrs.strides, (1, 1))


def _cost(attrs: TransposeWindow, inputs: Types, outputs: Types) -> ReferenceCost:
    """The products of each pixel with each filter."""
    data, weight = inputs[0].shape, inputs[1].shape
    each = data[0] * weight[0] * weight[3]
    return window_cost(_axes(attrs, weight), each, inputs, outputs)


def _terms(attrs: Conv2DTransposeAttrs, operands: Operands) -> int:
    """The largest number of products in a sum, to which every stride-th row and column of the
    kernel contributes."""
    *size, depth = operands.input_types[1].shape[1:]
    rows, columns = (-(-k // s) for k, s in zip(size, attrs.strides, strict=True))
    return rows * columns * depth


CONV2D_TRANSPOSE = OpDefinition(
    "nn.conv2d_transpose",
    Conv2DTransposeAttrs,
    _infer,
    _check,
    _reference,
    layer,
    cost=_cost,
    bound=bounds.products(_reference, _terms),
)


def _hybrid_check(_attrs: Conv2DTransposeHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per filter."""
    return hybrid.constraint(inputs, outputs[0], axis=0, products=1)


def _hybrid_reference(attrs: Conv2DTransposeHybridAttrs, operands: Operands) -> Arrays:
    # Source: measurement of ai-edge-litert 2.3.0 (BUILTIN_REF).
    batches = (_scaled(image[None], operands, attrs) for image in operands.inputs[0])
    return hybrid.finished(batches, operands, attrs.activation)


def _scaled(image: Array, operands: Operands, attrs: TransposeWindow) -> Array:
    """The sums of one image in float32, without the bias."""
    values, scale = hybrid.quantized(image, asymmetric=True)
    weight, scales = operands.inputs[1].astype(np.int64), hybrid.scales(operands.input_types[1])
    totals = np.zeros((1, *attrs.size, len(weight)), np.float32)
    # A later tap of a filter comes from an earlier pixel, and LiteRT adds pixel by pixel, and each
    # pixel's channels one after the other.
    for (y, x), pixels, cells in reversed(tuple(taps(*_axes(attrs, weight.shape)))):
        for k in range(weight.shape[3]):
            products = values[pixels][..., k, None] * weight[:, y, x, k]
            totals[cells] += products.astype(np.float32) * scales * scale
    return totals


def _hybrid_cost(attrs: TransposeWindow, inputs: Types, outputs: Types) -> ReferenceCost:
    """The products of each pixel with each filter, channel by channel."""
    data, weight = inputs[0].shape, inputs[1].shape
    each = data[0] * weight[0] * weight[3]
    groups = data[0] * weight[3]
    return window_cost(_axes(attrs, weight), each, inputs, outputs, groups=groups)


CONV2D_TRANSPOSE_HYBRID = OpDefinition(
    "nn.conv2d_transpose_hybrid",
    Conv2DTransposeHybridAttrs,
    _infer,
    _hybrid_check,
    _hybrid_reference,
    layer,
    cost=_hybrid_cost,
)


OPS = (CONV2D_TRANSPOSE, CONV2D_TRANSPOSE_HYBRID)
