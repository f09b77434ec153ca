"""nn.max_pool2d: the greatest value of each window; padding does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.arithmetic.int8 import clamp
from microgen.arithmetic.terms import Activation
from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops import bounds, floats, limits
from microgen.ops.base import Inexact, Op, Operands, Padding, Pair, Shape
from microgen.ops.constraints import ALL_FAMILIES, unchanged_constraint
from microgen.ops.cost import Cost
from microgen.ops.window import pool_axes, pool_cost, pool_shape, taps


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
    """NaN is ignored, like padding. Source: TFLite
    reference/integer_ops/pooling.h and reference/pooling.h, MaxPool."""
    data, output = operands.inputs[0], operands.output_types[0]
    largest = _greatest(attrs, data, limits.least(data.dtype))
    if floats.is_float(output):
        return floats.activated(largest, attrs.activation)
    return (clamp(largest, output, attrs.activation),)


def _greatest(attrs: MaxPool2DAttrs, data: Array, least: float) -> Array:
    """The greatest of each window and ``least``, in the dtype of data."""
    rows, columns = pool_axes(data.shape, (attrs.padding, attrs.pool_size, attrs.strides))
    shape = (len(data), rows.places, columns.places, data.shape[3])
    largest = np.full(shape, least, data.dtype)
    for _, places, cells in taps(rows, columns):
        largest[places] = np.fmax(largest[places], data[cells])
    return largest


def cost(
    attrs: MaxPool2DAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> Cost:
    """Each cell under each window."""
    return pool_cost((attrs.padding, attrs.pool_size, attrs.strides), inputs, outputs)


def parts(attrs: MaxPool2DAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    clip = () if attrs.activation is Activation.NONE else ("clip",)
    return ("nn_max_pool2d", *clip)


def _grown(attrs: MaxPool2DAttrs, given: Inexact) -> Array:
    """The greatest error in each window."""
    return _greatest(attrs, given.errors[0], 0.0)


OP = Op(
    "nn.max_pool2d",
    MaxPool2DAttrs,
    infer,
    check,
    reference,
    parts,
    cost=cost,
    bound=bounds.elementwise(_grown, roundings=0),
)
