"""nn.prelu: x where x is positive, alpha times x elsewhere, with alpha a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import offset_and_clamp, quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Inexact, Op, Operands, Shape
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    activation_constraint,
    activations_constraint,
)
from microgen.graph.ops.elementwise import broadcast


@dataclass(frozen=True, slots=True)
class PReluAttrs(Attrs):
    """Inputs: data, int8, int16 or float32; alpha of a shape that broadcasts to the data's. Alpha
    has the data's dtype, except that it is int8 with int16 data."""


@dataclass(frozen=True, slots=True)
class PReluParameters:
    """Multipliers and shifts to the output's scale, for the data and for products with alpha."""

    multiplier: int
    shift: int
    alpha_multiplier: int
    alpha_shift: int


def parameters(data: TensorType, alpha: TensorType, output: TensorType) -> PReluParameters:
    """The parameters. Source: TFLite activations.cc, PreluPrepare, which computes in float32.

    ValueError if a scale is 2**30 times the output's or more.
    """
    scale_in, scale_alpha, scale_out = (np.float32(t.scale) for t in (data, alpha, output))
    with np.errstate(over="ignore"):
        identity = quantize_multiplier(float(scale_in / scale_out))
        slope = quantize_multiplier(float(scale_in * scale_alpha / scale_out))
    return PReluParameters(*identity, *slope)


def infer(attrs: PReluAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape."""
    (shape,) = broadcast.infer(attrs, inputs)
    if shape != inputs[0].shape:
        raise ValueError(f"alpha is {inputs[1]}; it must broadcast to the data, {inputs[0]}")
    return (shape,)


def check(
    _attrs: PReluAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """A valid pair of dtypes, and ratios of scales that the fixed point can hold.

    LiteRT would read an int16 alpha as an int8 one.
    """
    (data, alpha), output = inputs, outputs[0]
    alphas = (DType.INT8 if data.dtype is DType.INT16 else data.dtype,)
    sentence = activations_constraint(data, output, ALL_FAMILIES)
    sentence = sentence or activation_constraint("alpha", alpha, alphas)
    if sentence or data.quant is None:
        return sentence
    try:
        parameters(data, alpha, output)
    except ValueError as error:
        return str(error)
    return None


def reference(_attrs: PReluAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/prelu.h, BroadcastPrelu4DSlow; int16 and floats are like int8."""
    output = operands.output_types[0]
    if floats.is_float(output):
        return _float(*operands.inputs)
    data_type, alpha_type = operands.input_types
    p = parameters(data_type, alpha_type, output)
    data, alpha = broadcast.centred(operands)
    positive = broadcast.scale(data, p.multiplier, p.shift)
    negative = broadcast.scale(data * alpha, p.alpha_multiplier, p.alpha_shift)
    return (offset_and_clamp(np.where(data >= 0, positive, negative), output, Activation.NONE),)


def _float(data: Array, alpha: Array) -> tuple[Array, ...]:
    with np.errstate(over="ignore", invalid="ignore"):
        return (np.where(data >= 0, data, data * alpha),)


def parts(_attrs: PReluAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nn_prelu",)


def _grown(_attrs: PReluAttrs, given: Inexact) -> Array:
    """The error of the output from those of the data and of its product with alpha."""
    return np.asarray(np.maximum(given.errors[0], bounds.error_of_product(_attrs, given)))


OP = Op("nn.prelu", PReluAttrs, infer, check, reference, parts, bound=bounds.elementwise(_grown))
