"""qnn.dequantize: int8, uint8, int16 or int32 values converted to the floats that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import activation_constraint, quantized_constraint
from microgen.graph.ops.cost import moved

FROM, TO = (DType.INT8, DType.UINT8, DType.INT16, DType.INT32), (DType.FLOAT32,)


@dataclass(frozen=True, slots=True)
class DequantizeAttrs(Attrs):
    """Input: int8, uint8, int16 or int32 data of any rank, with a scale."""


def infer(_attrs: DequantizeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    one_input("qnn.dequantize", inputs)
    return (inputs[0].shape,)


def check(
    _attrs: DequantizeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, uint8, int16 or int32 to float32."""
    return quantized_constraint("input", inputs[0], FROM) or activation_constraint(
        "output", outputs[0], TO
    )


def reference(_attrs: DequantizeAttrs, operands: Operands) -> tuple[Array, ...]:
    """One float32 product: the exact product rounded once, except for int32.

    Source: TFLite reference/integer_ops/dequantize.h, Dequantize, which multiplies in double and
    then rounds. The result is the same, because the product of 24 and 16 bits is exact. int32
    values become float32 first: TVM v0.14, src/relay/qnn/op/dequantize.cc, DequantizeLower.
    """
    data = operands.input_types[0]
    centred = operands.inputs[0].astype(np.int32) - data.zero_point
    with np.errstate(over="ignore"):
        return (centred.astype(np.float32) * np.float32(data.scale),)


def parts(_attrs: DequantizeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("qnn_dequantize",)


OP = Op(
    "qnn.dequantize",
    DequantizeAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.monotonic(reference),
    cost=moved,
)
