"""2-D convolutions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, Types
from microgen.graph.ops import bounds, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Padding, Pair, Shape, Shapes, layer
from microgen.graph.ops.convolution import convolution
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.geometry import output_size
from microgen.graph.ops.window import Along, axes, check_dilation, nhwc, spatial, taps, window_cost


@dataclass(frozen=True, slots=True)
class Conv2DWindow(Attrs):
    """The attributes of a convolution's window and of the clamp of its output."""

    strides: Pair
    dilation: Pair
    padding: Padding
    activation: Activation


@dataclass(frozen=True, slots=True)
class Conv2DAttrs(Conv2DWindow):
    """nn.conv2d: a 2-D convolution, grouped if the filters are shallower than the input.

    Inputs: NHWC data, OHWI weight, optional bias [O].

    Their dtypes are int8, int8 and int32; or int16, int8 and either int32 (``rounding`` is DOUBLE)
    or int64 (REDUCED); or all float32, to which ``rounding`` does not apply.
    """

    rounding: Rounding


def _infer(attrs: Conv2DWindow, inputs: Types) -> Shapes:
    """The shape [N, OH, OW, O]."""
    convolution.check_count("nn.conv2d", inputs)
    batches, _, _, channels = nhwc("input", inputs[0])
    filters, _, _, depth = nhwc("weight", inputs[1])
    if depth < 1 or channels % depth:
        raise ValueError(f"the filters' {depth} channels do not divide the input's {channels}")
    if filters < 1 or filters % (channels // depth):
        raise ValueError(f"{filters} filters do not divide into {channels // depth} groups")
    convolution.check_bias(inputs, filters, "filter")
    size, kernel = spatial(inputs[0].shape), spatial(inputs[1].shape)
    height, width = output_size(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    check_dilation(inputs[0].shape, attrs.dilation)
    return ((batches, height, width, filters),)


def _check(attrs: Conv2DAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout; or int8 or int16 with int8 weights, symmetric and per tensor or per
    filter. Sums of int8 products fit int32, and may be the output. Weights with
    one scale may have any zero point if sums are rounded PRODUCT or FLOAT, or are the output."""
    products = math.prod(inputs[1].shape[1:])
    return convolution.constraint(
        inputs, outputs[0], attrs.rounding, axis=0, products=products, any_zero=True
    )


def _reference(attrs: Conv2DAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/integer_ops/conv.h, ConvPerChannel; reference/conv.h, Conv.
    data, weight, *_ = operands.inputs
    weight = convolution.centred(weight, operands.input_types[1])
    totals = sums(attrs, data, weight, operands.input_types[0].zero)
    return convolution.finished(totals, operands, attrs.activation, attrs.rounding)


def sums(attrs: Conv2DWindow, data: Array, weight: Array, zero: int) -> Array:
    """Sums of products of the weight with data minus ``zero``, float64 [N, OH, OW, O]. For integers
    they are exact, because 2**30 products of int16 and int8 fit float64."""
    rows, columns = _axes(attrs, data.shape, weight.shape)
    # numpy has the fast matrix product only for floats, and sums of integers are exact in float64.
    values, factors = data.astype(np.float64) - zero, weight.astype(np.float64)
    totals = np.zeros((len(data), rows.places, columns.places, len(weight)))
    for (y, x), places, cells in taps(rows, columns):
        for channels, filters in _groups(data.shape[3], weight):
            seen = values[cells][..., channels]
            totals[places][..., filters] += seen @ factors[filters, y, x].T
    return totals


def _axes(attrs: Conv2DWindow, data: Shape, weight: Shape) -> tuple[Along, Along]:
    return axes(attrs.padding, spatial(data), spatial(weight), attrs.strides, attrs.dilation)


def _cost(attrs: Conv2DWindow, inputs: Types, outputs: Types) -> ReferenceCost:
    """The products of each filter with its window at each place."""
    data, weight = inputs[0].shape, inputs[1].shape
    each, groups = data[0] * weight[0] * weight[3], data[3] // weight[3]
    return window_cost(_axes(attrs, data, weight), each, inputs, outputs, groups=groups)


def _groups(channels: int, weight: Array) -> Iterator[tuple[slice, slice]]:
    """For each group of filters, the channels that it reads, and its filters."""
    depth, groups = weight.shape[3], channels // weight.shape[3]
    filters = len(weight) // groups
    for i in range(groups):
        yield slice(i * depth, (i + 1) * depth), slice(i * filters, (i + 1) * filters)


CONV2D = OpDefinition(
    "nn.conv2d",
    Conv2DAttrs,
    _infer,
    _check,
    _reference,
    layer,
    cost=_cost,
    bound=bounds.products(_reference, convolution.terms),
)


@dataclass(frozen=True, slots=True)
class Conv2DHybridAttrs(Conv2DWindow):
    """nn.conv2d_hybrid: a 2-D convolution of float32 data with int8 weights, computed in integers.

    Inputs: float32 NHWC data, int8 OHWI weight, optional float32 bias [O]. Grouped if the
    filters are shallower than the input.

    Each image is quantized: symmetric if the weight has one scale, asymmetric if it has several.
    """


def is_asymmetric(weight: ArrayType) -> bool:
    """Whether images are quantized with a zero point."""
    return len(hybrid.scales(weight)) > 1


def _hybrid_check(_attrs: Conv2DHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per filter. Sums of products fit
    int32. A grouped convolution has a scale per filter, as in LiteRT."""
    data, weight, *_ = inputs
    products = math.prod(weight.shape[1:])
    sentence = hybrid.constraint(inputs, outputs[0], axis=0, products=products)
    if sentence or weight.shape[3] == data.shape[3] or is_asymmetric(weight):
        return sentence
    return f"the hybrid convolution is grouped, but its weight {weight} has one scale for all"


def _hybrid_reference(attrs: Conv2DHybridAttrs, operands: Operands) -> Arrays:
    # Source: TFLite conv.cc, EvalHybrid and EvalHybridPerChannel.
    batches = (_scaled(image[None], operands, attrs) for image in operands.inputs[0])
    return hybrid.finished(batches, operands, attrs.activation)


def _scaled(image: Array, operands: Operands, attrs: Conv2DHybridAttrs) -> Array:
    """The sums of one image in float32, without the bias."""
    weight = operands.input_types[1]
    asymmetric = is_asymmetric(weight)
    values, scale = hybrid.quantized(image, asymmetric=asymmetric)
    totals = sums(attrs, values, operands.inputs[1], 0).astype(np.float32)
    scales = hybrid.scales(weight)
    # EvalHybridPerChannel and EvalHybrid multiply in different orders, and each product is rounded.
    return totals * scales * scale if asymmetric else totals * (scale * scales)


CONV2D_HYBRID = OpDefinition(
    "nn.conv2d_hybrid",
    Conv2DHybridAttrs,
    _infer,
    _hybrid_check,
    _hybrid_reference,
    layer,
    cost=_cost,
)


OPS = (CONV2D, CONV2D_HYBRID)
