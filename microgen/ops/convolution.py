"""What the convolutions share: their constraints, and how sums become stored values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.ir.graph import Array, TensorType
from microgen.ops.base import Activation, Operands, Rounding
from microgen.ops.constraints import (
    accumulator_constraint,
    activations_constraint,
    bias_constraint,
    weight_constraint,
)
from microgen.quantize import conv_scales, requantize


def constraint(
    inputs: Sequence[TensorType], output: TensorType, *, axis: int, products: int
) -> str | None:
    """int8 throughout, weights symmetric and per tensor or per index of ``axis``, and sums of
    ``products`` terms within int32."""
    data, weight, *bias = inputs
    sentence = (
        activations_constraint(data, output)
        or weight_constraint(weight, axis)
        or (bias_constraint(bias[0], data, weight, output) if bias else None)
    )
    return sentence or accumulator_constraint(data, products, conv_scales(data, weight, output))


def stored(sums: Array, operands: Operands, activation: Activation, rounding: Rounding) -> Array:
    """Integer sums of products (channels last), with the bias, as the output stores them."""
    data, weight, *_ = operands.input_types
    output = operands.output_types[0]
    biased = sums + operands.inputs[2] if len(operands.inputs) > 2 else sums
    scales = conv_scales(data, weight, output)
    return requantize(biased.astype(np.int32), scales, rounding, output, activation)


def parts(word: str, activation: Activation, n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    bias = ("nn_bias_add",) if n_inputs == 3 else ()
    clip = () if activation is Activation.NONE else ("clip",)
    return (word, *bias, *clip)
