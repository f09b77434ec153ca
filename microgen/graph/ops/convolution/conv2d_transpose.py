"""nn.conv2d_transpose: each pixel of the input, times the filters, is added to the output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import OpDefinition, Operands, Padding, Pair, Shape, Shapes, layer
from microgen.graph.ops.convolution import convolution
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.geometry import output_size
from microgen.graph.ops.window import Along, axes, nhwc, spatial, taps, window_cost


@dataclass(frozen=True, slots=True)
class Conv2DTransposeAttrs(Attrs):
    """Inputs: NHWC data, OHWI weight, optional bias [O], of the dtypes of nn.conv2d.

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
    rounding: Rounding


def infer(attrs: Conv2DTransposeAttrs, inputs: Types) -> Shapes:
    """The shape [N, *size, O]."""
    convolution.check_count("nn.conv2d_transpose", inputs)
    batches, _, _, channels = nhwc("input", inputs[0])
    filters, _, _, depth = nhwc("weight", inputs[1])
    if depth != channels:
        raise ValueError(
            f"the filters have {depth} channels, the input {channels}; they must be equal"
        )
    convolution.check_bias(inputs, filters, "filter")
    size, kernel = spatial(inputs[0].shape), spatial(inputs[1].shape)
    got = output_size(attrs.padding, attrs.size, kernel, attrs.strides, (1, 1))
    if got != size:
        raise ValueError(
            f"the input's height and width are {size}; a convolution of the output's {attrs.size} "
            f"with kernel {kernel}, strides {attrs.strides} and padding {attrs.padding} has {got}"
        )
    return ((batches, *attrs.size, filters),)


def check(attrs: Conv2DTransposeAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout; or int8 or int16 with int8 weights, symmetric and per tensor or per
    filter. Sums of int8 products fit int32."""
    _, height, width, depth = inputs[1].shape
    # An output pixel is reached by every stride-th tap of a row and of a column only.
    products = -(-height // attrs.strides[0]) * -(-width // attrs.strides[1]) * depth
    return convolution.constraint(inputs, outputs[0], attrs.rounding, axis=0, products=products)


def reference(attrs: Conv2DTransposeAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/integer_ops/transpose_conv.h; reference/transpose_conv.h."""
    data, weight, *_ = operands.inputs
    # float64 has the fast matrix product, and is exact for integers: 2**30 products fit.
    values = data.astype(np.float64) - operands.input_types[0].zero
    sums = transposed(values, weight.astype(np.float64), attrs)
    return convolution.finished(sums, operands, attrs.activation, attrs.rounding)


def transposed(values: Array, weight: Array, attrs: Conv2DTransposeAttrs) -> Array:
    """Sums of products [N, *size, O] of ``values`` and ``weight``, in their dtype."""
    totals = np.zeros((len(values), *attrs.size, len(weight)), values.dtype)
    for (y, x), pixels, cells in taps(*_axes(attrs, weight.shape)):
        totals[cells] += values[pixels] @ weight[:, y, x].T
    return totals


def _axes(attrs: Conv2DTransposeAttrs, weight: Shape) -> tuple[Along, Along]:
    """The axes of the nn.conv2d in the opposite direction, whose places are the data's pixels."""
    return axes(attrs.padding, attrs.size, spatial(weight), attrs.strides, (1, 1))


def cost(attrs: Conv2DTransposeAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
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


OP = OpDefinition(
    "nn.conv2d_transpose",
    Conv2DTransposeAttrs,
    infer,
    check,
    reference,
    layer,
    cost=cost,
    bound=bounds.products(reference, _terms),
)
