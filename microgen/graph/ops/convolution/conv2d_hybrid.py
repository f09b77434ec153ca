"""nn.conv2d_hybrid: a 2-D convolution of float32 data with int8 weights, computed in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, Types
from microgen.graph.ops import floats, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Padding, Pair, Shapes, layer
from microgen.graph.ops.convolution import conv2d
from microgen.graph.ops.cost import ReferenceCost


@dataclass(frozen=True, slots=True)
class Conv2DHybridAttrs(Attrs):
    """Inputs: float32 NHWC data, int8 OHWI weight, optional float32 bias [O]. Not grouped.

    Each image is quantized: symmetric if the weight has one scale, asymmetric if it has several.
    """

    strides: Pair
    dilation: Pair
    padding: Padding
    activation: Activation


def is_asymmetric(weight: ArrayType) -> bool:
    """Whether images are quantized with a zero point."""
    return len(hybrid.scales(weight)) > 1


def infer(attrs: Conv2DHybridAttrs, inputs: Types) -> Shapes:
    """The shape [N, OH, OW, O]."""
    return conv2d.infer(_window(attrs), inputs)


def _window(attrs: Conv2DHybridAttrs) -> conv2d.Conv2DAttrs:
    return conv2d.Conv2DAttrs(
        attrs.strides, attrs.dilation, attrs.padding, attrs.activation, Rounding.DOUBLE
    )


def check(_attrs: Conv2DHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per filter. Sums of products fit
    int32. The filters are as deep as the data."""
    data, weight, *_ = inputs
    if weight.shape[3] != data.shape[3]:
        return f"the hybrid convolution is grouped: filters {weight} of data {data}"
    products = math.prod(weight.shape[1:])
    return hybrid.constraint(inputs, outputs[0], axis=0, products=products)


def reference(attrs: Conv2DHybridAttrs, operands: Operands) -> Arrays:
    """Source: TFLite conv.cc, EvalHybrid and EvalHybridPerChannel."""
    data, _, *bias = operands.inputs
    scaled = np.concatenate([_scaled(image[None], operands, attrs) for image in data])
    return floats.activated(scaled + bias[0] if bias else scaled, attrs.activation)


def _scaled(image: Array, operands: Operands, attrs: Conv2DHybridAttrs) -> Array:
    """The sums of one image in float32, without the bias."""
    weight = operands.input_types[1]
    asymmetric = is_asymmetric(weight)
    values, scale = hybrid.quantized(image, asymmetric=asymmetric)
    sums = conv2d.sums(_window(attrs), values, operands.inputs[1], 0).astype(np.float32)
    scales = hybrid.scales(weight)
    # EvalHybridPerChannel and EvalHybrid multiply in different orders, and each product is rounded.
    return sums * scales * scale if asymmetric else sums * (scale * scales)


def cost(attrs: Conv2DHybridAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost of the integer convolution."""
    return conv2d.cost(_window(attrs), inputs, outputs)


OP = OpDefinition("nn.conv2d_hybrid", Conv2DHybridAttrs, infer, check, reference, layer, cost=cost)
