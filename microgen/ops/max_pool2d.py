"""nn.max_pool2d: the greatest value of each window; padding does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import bounds, floats, limits
from microgen.ops.base import Activation, Inexact, Op, Operands, Padding, Pair, Shape
from microgen.ops.constraints import ALL_FAMILIES, unchanged_constraint
from microgen.ops.window import pool_shape, pool_windows
from microgen.quantize import clamp


@dataclass(frozen=True, slots=True)
class MaxPool2DAttrs(Attrs):
    """Input: int8, int16 or float32 NHWC data; the output has its quantization."""

    pool_size: Pair
    strides: Pair
    padding: Padding
    activation: Activation


def infer(attrs: MaxPool2DAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape [N, OH, OW, C]."""
    pool = attrs.padding, attrs.pool_size, attrs.strides
    return (pool_shape("nn.max_pool2d", inputs, pool),)


def check(
    _attrs: MaxPool2DAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0], ALL_FAMILIES)


def reference(attrs: MaxPool2DAttrs, operands: Operands) -> tuple[Array, ...]:
    """NaN does not count, no more than padding. Source: TFLite
    reference/integer_ops/pooling.h and reference/pooling.h, MaxPool."""
    data, output = operands.inputs[0], operands.output_types[0]
    pool = attrs.padding, attrs.pool_size, attrs.strides
    least = limits.least(data.dtype)
    largest = pool_windows(np.fmax(data, least), pool, least).max(axis=(4, 5))
    if floats.is_float(output):
        return floats.activated(largest, attrs.activation)
    return (clamp(largest, output, attrs.activation),)


def parts(attrs: MaxPool2DAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    clip = () if attrs.activation is Activation.NONE else ("clip",)
    return ("nn_max_pool2d", *clip)


def _grown(attrs: MaxPool2DAttrs, given: Inexact) -> Array:
    """The greatest error in each window."""
    pool = attrs.padding, attrs.pool_size, attrs.strides
    return np.asarray(pool_windows(given.errors[0], pool, 0).max(axis=(4, 5)))


OP = Op(
    "nn.max_pool2d",
    MaxPool2DAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.elementwise(_grown, roundings=0),
)
