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
from microgen.ops.window import check_dilation, nhwc, pad_spatial, spatial, windows


@dataclass(frozen=True, slots=True)
class Conv2DAttrs(Attrs):
    """Inputs: NHWC data, OHWI weight, optional bias [O]: int8, int8 and int32; int16, int8 and
    int32 or int64, as ``rounding`` is DOUBLE or REDUCED; or all float32, which are not rounded so.
    """

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
    check_dilation(inputs[0].shape, attrs.dilation)
    return ((batches, height, width, filters),)


def check(
    attrs: Conv2DAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32 throughout; or int8 or int16 with int8 weights, symmetric and per tensor or per
    filter; sums of int8 products fit int32, and may be the output."""
    products = math.prod(inputs[1].shape[1:])
    return convolution.constraint(inputs, outputs[0], attrs.rounding, axis=0, products=products)


def reference(attrs: Conv2DAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/integer_ops/conv.h, ConvPerChannel; reference/conv.h, Conv."""
    data, weight, *_ = operands.inputs
    found = sums(attrs, data, weight, operands.input_types[0].zero)
    return convolution.finished(found, operands, attrs.activation, attrs.rounding)


def sums(attrs: Conv2DAttrs, data: Array, weight: Array, zero: int) -> Array:
    """Sums of products of the weight with data less ``zero``, float64 [N, OH, OW, O]."""
    kernel, size = spatial(weight.shape), spatial(data.shape)
    pads = resolve(attrs.padding, size, kernel, attrs.strides, attrs.dilation)
    padded = pad_spatial(data, pads, zero)
    seen = windows(padded, kernel, attrs.strides, attrs.dilation)
    return _products(seen, weight, zero)


def _products(seen: Array, weight: Array, zero: int) -> Array:
    """Dot products, float64 [N, OH, OW, O].

    Of integers they are exact: 2**30 products of int16 and int8 fit. float64 has the fast matrix
    product.
    """
    filters, _, _, depth = weight.shape
    batches, height, width, channels = seen.shape[:4]
    groups = channels // depth
    places = batches * height * width
    columns = seen.reshape(places, groups, -1).astype(np.float64) - zero
    rows = weight.transpose(0, 3, 1, 2).reshape(groups, filters // groups, -1).astype(np.float64)
    products = columns.transpose(1, 0, 2) @ rows.transpose(0, 2, 1)
    return products.transpose(1, 0, 2).reshape(batches, height, width, filters)


def parts(attrs: Conv2DAttrs, n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return convolution.parts("nn_conv2d", attrs.activation, n_inputs)


OP = Op("nn.conv2d", Conv2DAttrs, infer, check, reference, parts)
