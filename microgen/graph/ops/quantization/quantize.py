"""qnn.quantize: float32 values converted to int8, uint8, int16 or int32 ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import activation_constraint, quantized_constraint
from microgen.graph.ops.cost import moved

FROM, TO = (DType.FLOAT32,), (DType.INT8, DType.UINT8, DType.INT16, DType.INT32)


@dataclass(frozen=True, slots=True)
class QuantizeAttrs(Attrs):
    """Input: float32 data of any rank. Halves are rounded away from zero, or to even."""

    ties_even: bool = False


def infer(_attrs: QuantizeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    one_input("qnn.quantize", inputs)
    return (inputs[0].shape,)


def check(
    _attrs: QuantizeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32 to int8, uint8, int16 or int32."""
    return activation_constraint("input", inputs[0], FROM) or quantized_constraint(
        "output", outputs[0], TO
    )


def reference(attrs: QuantizeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Division in float32, rounded to nearest, saturated; NaN becomes the least value.

    Source: TFLite reference/quantize.h, AffineQuantize, which is undefined for NaN and for
    quotients beyond int32; TVM v0.14, src/relay/qnn/op/quantize.cc, QuantizeLower, with C's round;
    with ``ties_even`` ONNX's QuantizeLinear.
    """
    output = operands.output_types[0]
    limits = np.iinfo(output.dtype.numpy)
    with np.errstate(over="ignore"):
        scaled = (operands.inputs[0] / np.float32(output.scale)).astype(np.float64)
    away = np.trunc(scaled + np.copysign(0.5, scaled))
    rounded = (np.rint(scaled) if attrs.ties_even else away) + output.zero_point
    stored = np.clip(np.nan_to_num(rounded, nan=limits.min), limits.min, limits.max)
    return (stored.astype(output.dtype.numpy),)


def parts(_attrs: QuantizeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("qnn_quantize",)


OP = Op(
    "qnn.quantize",
    QuantizeAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.monotonic(reference),
    cost=moved,
)
