"""multiply: elementwise multiplication with numpy's broadcasting."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import offset_and_clamp, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast

_DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32)
_STORED = (DType.INT8, DType.INT16)  # in_float32


@dataclass(frozen=True, slots=True)
class MultiplyAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes: int8 or int16, each with its own quantization,
    float32, or plain integers (modulo 2**n; with an activation, int32).

    With ``double_scales`` the ratio of the scales is computed in double, otherwise in float32.
    With ``in_float32``, for int8 and int16 tensors, the numbers that are stored are multiplied in
    float32.
    """

    activation: Activation
    double_scales: bool = False
    in_float32: bool = False


def parameters(
    attrs: MultiplyAttrs, lhs: TensorType, rhs: TensorType, output: TensorType
) -> tuple[int, int]:
    """(multiplier, shift) from products to the output.

    Source: TFLite mul.cc, Prepare, whose arithmetic is float32, and TFLite Micro mul_common.cc,
    CalculateOpDataMul, whose is double. ValueError if the scales' product is 2**30 times the
    output's scale or more.
    """
    width = np.float64 if attrs.double_scales else np.float32
    left, right, out = (width(np.float32(tensor.scale)) for tensor in (lhs, rhs, output))
    with np.errstate(over="ignore", under="ignore"):
        ratio = float(left * right / out)
    if ratio >= 2**30:
        raise ValueError(
            f"the input scales {lhs.scale:g} and {rhs.scale:g} make products of 2**30 times the "
            f"output scale {output.scale:g} or more; they must be less"
        )
    return quantize_multiplier(ratio)


def check(
    attrs: MultiplyAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype throughout, and scales whose ratio the fixed point can hold."""
    if attrs.in_float32:
        return broadcast.constraint(inputs, outputs, accepted=_STORED)
    scaling = functools.partial(parameters, attrs)
    sentence = broadcast.constraint(inputs, outputs, scaling, _DTYPES, INTEGERS)
    return sentence or broadcast.wide_activation(attrs.activation, outputs[0])


def reference(attrs: MultiplyAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: TFLite reference/integer_ops/mul.h, MulElementwise."""
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    if output.quant is None:
        return broadcast.plain(np.multiply, operands, attrs.activation)
    if attrs.in_float32:
        return broadcast.in_floats(np.multiply, operands, attrs.activation)
    left, right = broadcast.centred(operands)
    scaled = broadcast.scale(left * right, *parameters(attrs, lhs, rhs, output))
    return (offset_and_clamp(scaled, output, attrs.activation),)


def parts(attrs: MultiplyAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return broadcast.parts("multiply", attrs.activation)


OP = Op(
    "multiply",
    MultiplyAttrs,
    broadcast.infer,
    check,
    reference,
    parts,
    bound=bounds.elementwise(bounds.error_of_product),
)
