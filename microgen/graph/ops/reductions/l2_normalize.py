"""nn.l2_normalize: each row over the last axis divided by its Euclidean length."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import multiply_by_quantized_multiplier
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, like_rows
from microgen.graph.ops.constraints import (
    activations_constraint,
    depth_constraint,
    quant_constraint,
)
from microgen.graph.ops.cost import by_rows
from microgen.graph.ops.fixed_point import inverse_square_root

_MAX_DEPTH = (2**31 - 1) // 255**2  # a row's sum of squares must fit int32
LEAST_LENGTH = float(np.float32(1e-6))  # for a row of floats
_OUTPUT_SHIFT = 7  # the output's scale is 2**-7


class L2NormalizeAttrs(Attrs):
    """Input: int8 or float32 data of one or more dimensions. Output: of the same dtype; int8 with
    scale 1/128 and zero point 0."""


def check(_attrs: L2NormalizeAttrs, inputs: Types, outputs: Types) -> str | None:
    """For int8: the output's scale and zero point are fixed, and rows' squares fit int32."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output, (DType.INT8, DType.FLOAT32))
    if sentence or data.quant is None:
        return sentence
    return quant_constraint(output, 128, 0) or depth_constraint(data, _MAX_DEPTH)


def reference(_attrs: L2NormalizeAttrs, operands: Operands) -> Arrays:
    """Source of the integer form: TFLite reference/integer_ops/l2normalization.h. A row of zeros
    remains zero."""
    data = operands.inputs[0]
    if floats.is_float(operands.output_types[0]):
        return _float(data)
    centred = data.astype(np.int64) - operands.input_types[0].zero_point
    rows = centred.reshape(-1, data.shape[-1])
    factors = [inverse_square_root(int(total)) for total in (rows**2).sum(axis=1)]
    multiplier = np.array([[m] for m, _ in factors], np.int64)
    shift = np.array([[s + _OUTPUT_SHIFT] for _, s in factors], np.int64)
    scaled = multiply_by_quantized_multiplier(rows, multiplier, shift, Rounding.DOUBLE)
    return (np.clip(scaled, -128, 127).astype(np.int8).reshape(data.shape),)


def _float(x: Array) -> Arrays:
    """The float form. A row whose sum of squares exceeds float32 becomes 0."""
    # Source: TFLite reference_ops.h, L2Normalization, with the least length of l2norm.cc.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (x.astype(np.float64) ** 2).sum(axis=-1, keepdims=True).astype(np.float32)
        length = np.maximum(np.sqrt(squares.astype(np.float64)), LEAST_LENGTH)
        return ((x / length).astype(np.float32),)


def _ball(_attrs: L2NormalizeAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    """The formula of ``_float``, step by step, for numbers with errors."""
    (x,) = bounds.inputs(inexact)
    length = (x * x).sum(-1).apply(lambda total: np.sqrt(np.maximum(total, 0)), ulps=1)
    return (x / length.clipped(LEAST_LENGTH, np.inf),)


OP = OpDefinition(
    "nn.l2_normalize",
    L2NormalizeAttrs,
    like_rows("nn.l2_normalize"),
    check,
    reference,
    cost=by_rows,
    bound=bounds.balls(_ball),
)
