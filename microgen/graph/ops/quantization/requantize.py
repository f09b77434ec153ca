"""qnn.requantize: quantized values converted to another scale, zero point or dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.int8 import (
    multiply_by_quantized_multiplier,
    offset_and_clamp,
    quantize_multiplier,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import quantized_constraint

PAIRS = {  # the dtypes to which a dtype may be converted: TFLite quantize.cc, Prepare
    DType.INT8: (DType.INT8, DType.UINT8, DType.INT16),
    DType.UINT8: (DType.INT8, DType.UINT8),
    DType.INT16: (DType.INT8, DType.INT16, DType.INT32),
    DType.INT32: (DType.INT8, DType.INT16),
}


@dataclass(frozen=True, slots=True)
class RequantizeAttrs(Attrs):
    """Input: int8, uint8, int16 or int32 data of any rank, with a scale."""


def infer(_attrs: RequantizeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    one_input("qnn.requantize", inputs)
    return (inputs[0].shape,)


def requantize_multiplier(data: TensorType, output: TensorType) -> tuple[int, int]:
    """(multiplier, shift) from the input's scale to the output's.

    Source: TFLite quantize.cc, Prepare, whose division is in double. ValueError if the ratio
    of scales is 2**30 or more.
    """
    return quantize_multiplier(float(np.float32(data.scale)) / float(np.float32(output.scale)))


def check(
    _attrs: RequantizeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """A pair of dtypes that TFLite has, and a ratio of scales that the fixed point can hold."""
    data, output = inputs[0], outputs[0]
    sentence = quantized_constraint("input", data, tuple(PAIRS)) or quantized_constraint(
        "output", output, PAIRS[data.dtype]
    )
    if sentence:
        return sentence
    try:
        requantize_multiplier(inputs[0], outputs[0])
    except ValueError as error:
        return f"the output's scale is too small for the input's: {error}"
    return None


def reference(_attrs: RequantizeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/requantize.h, Requantize."""
    data, output = operands.input_types[0], operands.output_types[0]
    centred = operands.inputs[0].astype(np.int64) - data.zero_point
    multiplier, shift = requantize_multiplier(data, output)
    scaled = multiply_by_quantized_multiplier(centred, multiplier, shift, Rounding.DOUBLE)
    return (offset_and_clamp(scaled, output, Activation.NONE),)


def parts(_attrs: RequantizeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("qnn_requantize",)


OP = Op(
    "qnn.requantize",
    RequantizeAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.monotonic(reference),
)
