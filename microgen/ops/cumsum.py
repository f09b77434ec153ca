"""cumsum: the sum of all values up to each one, along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, DType, TensorType
from microgen.ops import bounds
from microgen.ops.base import Op, Operands, Shape, one_input
from microgen.ops.constraints import activations_constraint

DTYPES = (DType.INT32, DType.INT64, DType.FLOAT32)


@dataclass(frozen=True, slots=True)
class CumsumAttrs(Attrs):
    """Input: int32 or int64 data, summed modulo 2**32 or 2**64, or float32 data.

    ``axis`` is counted from the front. With ``exclusive`` each sum lacks the value at its own
    place. With ``reverse`` the sums begin at the axis's end.
    """

    axis: int
    exclusive: bool = False
    reverse: bool = False


def infer(attrs: CumsumAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    shape = one_input("cumsum", inputs).shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis is {attrs.axis}; the input is {inputs[0]}")
    return (shape,)


def check(
    _attrs: CumsumAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int32, int64 or float32 throughout."""
    return activations_constraint(inputs[0], outputs[0], DTYPES)


def reference(attrs: CumsumAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/cumsum.h, CumSum. Values are added one after another."""
    data = operands.inputs[0]
    forward = np.flip(data, attrs.axis) if attrs.reverse else data
    with np.errstate(all="ignore"):
        sums = np.cumsum(forward, attrs.axis, data.dtype)
    if attrs.exclusive:
        zeros = np.zeros_like(np.take(sums, [0], attrs.axis))
        others = np.take(sums, range(data.shape[attrs.axis] - 1), attrs.axis)
        sums = np.concatenate([zeros, others], attrs.axis)
    return (np.ascontiguousarray(np.flip(sums, attrs.axis) if attrs.reverse else sums),)


def _terms(attrs: CumsumAttrs, operands: Operands) -> int:
    return operands.input_types[0].shape[attrs.axis]


def parts(_attrs: CumsumAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("cumsum",)


OP = Op("cumsum", CumsumAttrs, infer, check, reference, parts, bound=bounds.sums(reference, _terms))
