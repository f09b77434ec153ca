"""squared_difference: (lhs - rhs) squared, elementwise, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import AddParameters, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.elementwise import broadcast

_DTYPES = (DType.INT8, DType.INT32, DType.FLOAT32)
LEFT_SHIFT = 7  # the square of a difference of two shifted operands is under 2**30


@dataclass(frozen=True, slots=True)
class SquaredDifferenceAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes: int8, each with its own quantization, int32
    (modulo 2**32) or float32."""


def parameters(lhs: TensorType, rhs: TensorType, output: TensorType) -> AddParameters:
    """The scaling: both operands are brought to twice the larger input scale over 2**7.

    Source: TFLite squared_difference.cc, Prepare (QuantizeMultiplierSmallerThanOneExp).
    ValueError if that aborts: the square's scale must be less than the output's.
    """
    scale_lhs, scale_rhs, scale_out = lhs.scale, rhs.scale, output.scale
    twice_max = 2 * max(scale_lhs, scale_rhs)
    factor = twice_max * twice_max / ((1 << 2 * LEFT_SHIFT) * scale_out)
    if factor < 1:
        ratios = (scale_lhs / twice_max, scale_rhs / twice_max, factor)
        left, right, out = (quantize_multiplier(ratio) for ratio in ratios)
        if out[1] <= 0:
            return AddParameters(LEFT_SHIFT, *left, *right, *out)
    raise ValueError(
        f"the square of the input scale {twice_max / 2:g} is 2**12 times the output scale "
        f"{scale_out:g} or more; it must be less"
    )


def check(
    _attrs: SquaredDifferenceAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype throughout, and scales whose ratios the fixed point can hold."""
    return broadcast.constraint(inputs, outputs, parameters, _DTYPES)


def reference(_attrs: SquaredDifferenceAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite squared_difference.cc, SquaredDifference."""
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if output.quant is None:
        return (_plain(operands),)
    p = parameters(lhs, rhs, output)
    left, right = broadcast.scaled_operands(p, operands)
    return broadcast.stored_sum(p, (left - right) ** 2, output, Activation.NONE)


def _plain(operands: Operands) -> Array:
    """In float32, where infinities remain infinities, or in int32 modulo 2**32."""
    lhs, rhs = operands.inputs
    with np.errstate(all="ignore"):
        difference = np.asarray(lhs - rhs)
        return np.asarray(difference * difference)


def parts(_attrs: SquaredDifferenceAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("squared_difference",)


OP = Op(
    "squared_difference",
    SquaredDifferenceAttrs,
    broadcast.infer,
    check,
    reference,
    parts,
    bound=bounds.elementwise(bounds.error_of_square, roundings=2),
)
