"""nn.softmax over the last axis, in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops.base import Op, Operands, Shape
from microgen.ops.constraints import activations_constraint
from microgen.ops.fixed_point import exp_of_negative, one_over_one_plus
from microgen.quantize import (
    SoftmaxParameters,
    rounding_divide_by_pot,
    rounding_doubling_high_mul,
    softmax_parameters,
)

_SUM_INTEGER_BITS = 12  # kAccumulationIntegerBits: the sum of exponentials is Q12.19
_MAX_DEPTH = (1 << _SUM_INTEGER_BITS) - 1  # each exponential is at most 1


@dataclass(frozen=True, slots=True)
class SoftmaxAttrs(Attrs):
    """Input: int8 data of any rank. Output: int8 with scale 1/256 and zero point -128."""

    beta: float


def infer(_attrs: SoftmaxAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    if len(inputs) != 1:
        raise ValueError(f"nn.softmax has {len(inputs)} inputs; one is expected")
    if not inputs[0].shape or inputs[0].shape[-1] < 1:
        raise ValueError(f"the input {inputs[0]} has no last axis to normalise over")
    return (inputs[0].shape,)


def check(
    attrs: SoftmaxAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, output in [0, 1), and few enough values that their sum fits its fixed point."""
    data, output = inputs[0], outputs[0]
    sentence = activations_constraint(data, output)
    if sentence:
        return sentence
    if abs(output.scale - 1 / 256) > 0.001 / 256 or output.zero_point != -128:
        return (
            f"the output's scale and zero point are {output.scale:g} and {output.zero_point}; "
            "they must be 1/256 and -128"
        )
    if data.shape[-1] > _MAX_DEPTH:
        return f"the last axis has {data.shape[-1]} values; the sum holds up to {_MAX_DEPTH}"
    return _parameters_constraint(attrs, data)


def _parameters_constraint(attrs: SoftmaxAttrs, data: TensorType) -> str | None:
    try:
        softmax_parameters(data, attrs.beta)
    except ValueError as error:
        return str(error)
    return None


def reference(attrs: SoftmaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/softmax.h (integer version), gemmlowp fixedpoint.h.

    Where the exponentials of a row sum to 512 or more, LiteRT aborts (it would shift an int32 by
    32); all that is left there is 0, and so it is here.
    """
    data = operands.inputs[0].astype(np.int64)
    parameters = softmax_parameters(operands.input_types[0], attrs.beta)
    difference = data - data.max(axis=-1, keepdims=True)
    counted = difference >= parameters.diff_min
    exponential = np.where(counted, exp_of_negative(_rescale(difference, counted, parameters)), 0)
    terms = rounding_divide_by_pot(exponential, _SUM_INTEGER_BITS)
    total = terms.sum(axis=-1, keepdims=True)
    # frexp is exact: total < 2**31
    headroom = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    reciprocal = one_over_one_plus((total << headroom) - (1 << 31))
    shift = (_SUM_INTEGER_BITS - headroom) + 31 - 8
    scaled = rounding_divide_by_pot(rounding_doubling_high_mul(reciprocal, exponential), shift)
    stored = np.where(counted, np.clip(scaled - 128, -128, 127), -128)
    return (stored.astype(np.int8),)


def _rescale(difference: Array, counted: Array, parameters: SoftmaxParameters) -> Array:
    """The product beta * scale * difference as Q5.26; 0 where the difference is not counted."""
    shifted = np.where(counted, difference, 0) << parameters.input_left_shift
    return rounding_doubling_high_mul(shifted, parameters.input_multiplier)


def parts(_attrs: SoftmaxAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nn_softmax",)


OP = Op("nn.softmax", SoftmaxAttrs, infer, check, reference, parts)
