"""nn.conv2d: a 2-D convolution, grouped if the filters are shallower than the input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import convolution
from microgen.ops.base import Activation, Op, Operands, Padding, Pair, Rounding, Shape
from microgen.ops.geometry import output_size, resolve
from microgen.ops.window import nhwc, pad_spatial, spatial, windows


@dataclass(frozen=True, slots=True)
class Conv2DAttrs(Attrs):
    """Inputs: int8 NHWC data, int8 OHWI weight, optional int32 bias [O]."""

    strides: Pair
    dilation: Pair
    padding: Padding
    activation: Activation
    rounding: Rounding


def infer(attrs: Conv2DAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape [N, OH, OW, O]."""
    if len(inputs) not in (2, 3):
        raise ValueError(
            f"nn.conv2d has {len(inputs)} inputs; data, weight and a bias are expected"
        )
    batches, _, _, channels = nhwc("input", inputs[0])
    filters, _, _, depth = nhwc("weight", inputs[1])
    if depth < 1 or channels % depth:
        raise ValueError(f"the filters' {depth} channels do not divide the input's {channels}")
    if filters < 1 or filters % (channels // depth):
        raise ValueError(f"{filters} filters do not divide into {channels // depth} groups")
    if len(inputs) == 3 and inputs[2].shape != (filters,):
        raise ValueError(f"the bias is {inputs[2]}; one value per filter, {filters}, is expected")
    size, kernel = spatial(inputs[0].shape), spatial(inputs[1].shape)
    height, width = output_size(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    return ((batches, height, width, filters),)


def check(
    _attrs: Conv2DAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """As ``convolution.constraint`` says."""
    products = math.prod(inputs[1].shape[1:])
    return convolution.constraint(inputs, outputs[0], axis=0, products=products)


def reference(attrs: Conv2DAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/integer_ops/conv.h, ConvPerChannel."""
    data, weight, *_ = operands.inputs
    zero_point = operands.input_types[0].zero_point
    kernel, size = spatial(weight.shape), spatial(data.shape)
    pads = resolve(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    padded = pad_spatial(data, pads, zero_point)
    seen = windows(padded, kernel, attrs.strides, attrs.dilation)
    sums = _sums(seen, weight, zero_point)
    return (convolution.stored(sums, operands, attrs.activation, attrs.rounding),)


def _sums(seen: Array, weight: Array, zero_point: int) -> Array:
    """Dot products, int64 [N, OH, OW, O].

    float64 is exact here and has the fast matrix product: ``check`` holds sums under 2**31.
    """
    filters, _, _, depth = weight.shape
    batches, height, width, channels = seen.shape[:4]
    groups = channels // depth
    places = batches * height * width
    columns = seen.reshape(places, groups, -1).astype(np.float64) - zero_point
    rows = weight.transpose(0, 3, 1, 2).reshape(groups, filters // groups, -1).astype(np.float64)
    products = columns.transpose(1, 0, 2) @ rows.transpose(0, 2, 1)
    by_filter = products.transpose(1, 0, 2).reshape(batches, height, width, filters)
    return by_filter.astype(np.int64)


def parts(attrs: Conv2DAttrs, n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return convolution.parts("nn_conv2d", attrs.activation, n_inputs)


OP = Op("nn.conv2d", Conv2DAttrs, infer, check, reference, parts)
