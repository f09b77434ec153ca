"""clip: a ReLU by itself; the output may have a quantization of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    clip_multiplier,
    multiply_by_quantized_multiplier,
    offset_and_clamp,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import ALL_FAMILIES, activations_constraint


@dataclass(frozen=True, slots=True)
class ClipAttrs(Attrs):
    """Input: int8, int16 or float32 data of any rank; for int16 TFLite has only RELU and RELU6."""

    activation: Activation


def infer(_attrs: ClipAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    one_input("clip", inputs)
    return (inputs[0].shape,)


def check(
    attrs: ClipAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """An activation to apply, and a ratio of scales that the fixed point can hold."""
    if not attrs.activation.clamps:
        return "a clip needs an activation"
    sentence = activations_constraint(inputs[0], outputs[0], _accepted(attrs))
    if sentence or inputs[0].quant is None:
        return sentence
    try:
        clip_multiplier(inputs[0], outputs[0])
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    return None


def _accepted(attrs: ClipAttrs) -> tuple[DType, ...]:
    if attrs.activation is Activation.RELU_N1_TO_1:
        return (DType.INT8, DType.FLOAT32)
    return ALL_FAMILIES


def reference(attrs: ClipAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source of the integer form: TFLite reference_ops.h, ReluX with ReluParams. Floats are clamped
    as by a fused activation, and infinity becomes the largest finite value."""
    data_type, output = operands.input_types[0], operands.output_types[0]
    if floats.is_float(output):
        return floats.activated(operands.inputs[0], attrs.activation)
    centred = operands.inputs[0].astype(np.int32) - data_type.zero_point
    multiplier, shift = clip_multiplier(data_type, output)
    if multiplier:
        centred = multiply_by_quantized_multiplier(centred, multiplier, shift, Rounding.DOUBLE)
    return (offset_and_clamp(centred, output, attrs.activation),)


def parts(_attrs: ClipAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("clip",)


OP = Op(
    "clip",
    ClipAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.lipschitz(lambda _attrs: 1.0, roundings=0),
)
