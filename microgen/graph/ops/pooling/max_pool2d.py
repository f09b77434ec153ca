"""nn.max_pool2d: the greatest value of each window; padding does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import clamp
from microgen.graph.ir.graph import Array, TensorType
from microgen.graph.ops import bounds, floats, limits
from microgen.graph.ops.base import Inexact, Op, Operands, Shape
from microgen.graph.ops.constraints import ALL_FAMILIES, unchanged_constraint
from microgen.graph.ops.pooling import pooling
from microgen.graph.ops.pooling.pooling import PoolAttrs
from microgen.graph.ops.window import pool_axes, pool_shape, taps


@dataclass(frozen=True, slots=True)
class MaxPool2DAttrs(PoolAttrs):
    """Input: int8, int16 or float32 NHWC data; the output has its quantization."""


def infer(attrs: MaxPool2DAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape [N, OH, OW, C]."""
    return (pool_shape("nn.max_pool2d", inputs, attrs.pool),)


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
    """The greatest of each window and ``least``, in the data's dtype."""
    rows, columns = pool_axes(data.shape, attrs.pool)
    shape = (len(data), rows.places, columns.places, data.shape[3])
    largest = np.full(shape, least, data.dtype)
    for _, places, cells in taps(rows, columns):
        largest[places] = np.fmax(largest[places], data[cells])
    return largest


def parts(attrs: MaxPool2DAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return pooling.parts("nn_max_pool2d", attrs)


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
    cost=pooling.cost,
    bound=bounds.elementwise(_grown, roundings=0),
)
