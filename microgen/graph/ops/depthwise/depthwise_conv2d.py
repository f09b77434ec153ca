"""2-D convolutions of each channel by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, Types
from microgen.graph.ops import bounds, floats, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Padding, Pair, Shape, Shapes, layer
from microgen.graph.ops.convolution import convolution
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.geometry import output_size
from microgen.graph.ops.window import Along, axes, check_dilation, nhwc, spatial, taps, window_cost


@dataclass(frozen=True, slots=True)
class DepthwiseWindow(Attrs):
    """The attributes of a depthwise convolution's window and of the clamp of its output."""

    strides: Pair
    dilation: Pair
    padding: Padding
    depth_multiplier: int
    activation: Activation


@dataclass(frozen=True, slots=True)
class DepthwiseConv2DAttrs(DepthwiseWindow):
    """nn.depthwise_conv2d: a 2-D convolution of each channel by itself.

    Inputs: NHWC data, 1HWC weight, optional bias [C], of the dtypes of nn.conv2d.

    Output channel c reads input channel c // depth_multiplier.
    """

    rounding: Rounding


def _infer(attrs: DepthwiseWindow, inputs: Types) -> Shapes:
    """The shape [N, OH, OW, C * depth_multiplier]."""
    convolution.check_count("nn.depthwise_conv2d", inputs)
    batches, _, _, channels = nhwc("input", inputs[0])
    one, _, _, filters = nhwc("weight", inputs[1])
    if one != 1 or attrs.depth_multiplier < 1 or filters != channels * attrs.depth_multiplier:
        raise ValueError(
            f"the weight is {inputs[1]}; for {channels} channels and depth multiplier "
            f"{attrs.depth_multiplier}, [1,*,*,{channels * attrs.depth_multiplier}] is expected"
        )
    convolution.check_bias(inputs, filters, "channel")
    size, kernel = spatial(inputs[0].shape), spatial(inputs[1].shape)
    height, width = output_size(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    check_dilation(inputs[0].shape, attrs.dilation)
    return ((batches, height, width, filters),)


def _check(attrs: DepthwiseConv2DAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout; or int8 or int16 with int8 weights, symmetric and per tensor or per
    channel. Sums of int8 products fit int32, and may be the output. Weights with
    one scale may have any zero point if sums are rounded PRODUCT or FLOAT, or are the output."""
    products = inputs[1].shape[1] * inputs[1].shape[2]
    return convolution.constraint(
        inputs, outputs[0], attrs.rounding, axis=3, products=products, any_zero=True
    )


def _reference(attrs: DepthwiseConv2DAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/integer_ops/depthwise_conv.h, DepthwiseConvPerChannel;
    # reference/depthwiseconv_float.h.
    # float32 sums equal LiteRT's bit for bit, tap by tap, because a hybrid layer that follows
    # rounds them.
    data, weight, *_ = operands.inputs
    weight = convolution.centred(weight, operands.input_types[1])
    zero = operands.input_types[0].zero
    kind = np.float32 if floats.is_float(operands.output_types[0]) else np.int64
    totals = sums(attrs, data.astype(kind), weight.astype(kind), zero)
    return convolution.finished(totals, operands, attrs.activation, attrs.rounding)


def sums(attrs: DepthwiseWindow, data: Array, weight: Array, zero: int) -> Array:
    """Sums of products of the weight with data minus ``zero``, [N, OH, OW, C * multiplier], in the
    dtype of both."""
    rows, columns = _axes(attrs, data.shape, weight.shape)
    repeated = np.repeat(data - data.dtype.type(zero), attrs.depth_multiplier, axis=3)
    totals = np.zeros((len(data), rows.places, columns.places, weight.shape[3]), data.dtype)
    for (y, x), places, cells in taps(rows, columns):
        totals[places] += repeated[cells] * weight[0, y, x]
    return totals


def _axes(attrs: DepthwiseWindow, data: Shape, weight: Shape) -> tuple[Along, Along]:
    return axes(attrs.padding, spatial(data), spatial(weight), attrs.strides, attrs.dilation)


def _cost(attrs: DepthwiseWindow, inputs: Types, outputs: Types) -> ReferenceCost:
    """The products of each channel with its window at each place."""
    data, weight = inputs[0].shape, inputs[1].shape
    each = data[0] * weight[3]
    return window_cost(_axes(attrs, data, weight), each, inputs, outputs)


def _terms(_attrs: DepthwiseConv2DAttrs, operands: Operands) -> int:
    return math.prod(spatial(operands.input_types[1].shape))


DEPTHWISE_CONV2D = OpDefinition(
    "nn.depthwise_conv2d",
    DepthwiseConv2DAttrs,
    _infer,
    _check,
    _reference,
    layer,
    cost=_cost,
    bound=bounds.products(_reference, _terms, is_wide=False),
)


@dataclass(frozen=True, slots=True)
class DepthwiseConv2DHybridAttrs(DepthwiseWindow):
    """nn.depthwise_conv2d_hybrid: a depthwise convolution of float32 data with int8 weights,
    computed in integers.

    Inputs: float32 NHWC data, int8 weight [1, KH, KW, C * depth_multiplier] with a scale per
    channel, optional float32 bias. Each image is quantized with a zero point.
    """


def _hybrid_check(_attrs: DepthwiseConv2DHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per channel. Sums of products fit
    int32. LiteRT always reads one scale per channel."""
    weight = inputs[1]
    products = weight.shape[1] * weight.shape[2]
    sentence = hybrid.constraint(inputs, outputs[0], axis=3, products=products)
    count = 0 if sentence else len(hybrid.scales(weight))
    if sentence or count == weight.shape[3]:
        return sentence
    return (
        f"the hybrid depthwise convolution's weight has {count} scale; one per channel, "
        f"{weight.shape[3]}, is expected"
    )


def _hybrid_reference(attrs: DepthwiseConv2DHybridAttrs, operands: Operands) -> Arrays:
    # Source: TFLite depthwise_conv.cc, EvalHybridPerChannel.
    batches = (_scaled(image[None], operands, attrs) for image in operands.inputs[0])
    return hybrid.finished(batches, operands, attrs.activation)


def _scaled(image: Array, operands: Operands, attrs: DepthwiseConv2DHybridAttrs) -> Array:
    """The sums of one image in float32, without the bias."""
    values, scale = hybrid.quantized(image, asymmetric=True)
    weight = operands.inputs[1].astype(np.int64)
    totals = sums(attrs, values, weight, 0).astype(np.float32)
    return totals * (hybrid.scales(operands.input_types[1]) * scale)


DEPTHWISE_CONV2D_HYBRID = OpDefinition(
    "nn.depthwise_conv2d_hybrid",
    DepthwiseConv2DHybridAttrs,
    _infer,
    _hybrid_check,
    _hybrid_reference,
    layer,
    cost=_cost,
)


OPS = (DEPTHWISE_CONV2D, DEPTHWISE_CONV2D_HYBRID)
