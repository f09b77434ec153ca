"""nn.depthwise_conv2d_hybrid: a depthwise convolution of float32 data with int8 weights, computed
in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, Types
from microgen.graph.ops import floats, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Padding, Pair, Shapes, layer
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.depthwise import depthwise_conv2d


@dataclass(frozen=True, slots=True)
class DepthwiseConv2DHybridAttrs(Attrs):
    """Inputs: float32 NHWC data, int8 weight [1, KH, KW, C * depth_multiplier] with a scale per
    channel, optional float32 bias. Each image is quantized with a zero point."""

    strides: Pair
    dilation: Pair
    padding: Padding
    depth_multiplier: int
    activation: Activation


def infer(attrs: DepthwiseConv2DHybridAttrs, inputs: Types) -> Shapes:
    """The shape [N, OH, OW, C * depth_multiplier]."""
    return depthwise_conv2d.infer(_window(attrs), inputs)


def _window(attrs: DepthwiseConv2DHybridAttrs) -> depthwise_conv2d.DepthwiseConv2DAttrs:
    return depthwise_conv2d.DepthwiseConv2DAttrs(
        attrs.strides,
        attrs.dilation,
        attrs.padding,
        attrs.depth_multiplier,
        attrs.activation,
        Rounding.DOUBLE,
    )


def check(_attrs: DepthwiseConv2DHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per channel. Sums of products fit
    int32. LiteRT always reads one scale per channel."""
    weight = inputs[1]
    products = weight.shape[1] * weight.shape[2]
    sentence = hybrid.constraint(inputs, outputs[0], axis=3, products=products)
    found = 0 if sentence else len(hybrid.scales(weight))
    if sentence or found == weight.shape[3]:
        return sentence
    return (
        f"the hybrid depthwise convolution's weight has {found} scale; one per channel, "
        f"{weight.shape[3]}, is expected"
    )


def reference(attrs: DepthwiseConv2DHybridAttrs, operands: Operands) -> Arrays:
    """Source: TFLite depthwise_conv.cc, EvalHybridPerChannel."""
    data, _, *bias = operands.inputs
    scaled = np.concatenate([_scaled(image[None], operands, attrs) for image in data])
    return floats.activated(scaled + bias[0] if bias else scaled, attrs.activation)


def _scaled(image: Array, operands: Operands, attrs: DepthwiseConv2DHybridAttrs) -> Array:
    """The sums of one image in float32, without the bias."""
    values, scale = hybrid.quantized(image, asymmetric=True)
    weight = operands.inputs[1].astype(np.int64)
    sums = depthwise_conv2d.sums(_window(attrs), values, weight, 0).astype(np.float32)
    return sums * (hybrid.scales(operands.input_types[1]) * scale)


def cost(attrs: DepthwiseConv2DHybridAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost of the integer convolution."""
    return depthwise_conv2d.cost(_window(attrs), inputs, outputs)


OP = OpDefinition(
    "nn.depthwise_conv2d_hybrid",
    DepthwiseConv2DHybridAttrs,
    infer,
    check,
    reference,
    layer,
    cost=cost,
)
