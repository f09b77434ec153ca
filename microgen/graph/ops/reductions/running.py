"""Shared by cumsum and cumprod: one result of all values up to each one, along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Operands, Shape, one_input
from microgen.graph.ops.constraints import activations_constraint

DTYPES = (DType.INT32, DType.INT64, DType.FLOAT32)


@dataclass(frozen=True, slots=True)
class RunningAttrs(Attrs):
    """Input: int32 or int64 data, computed modulo 2**32 or 2**64, or float32 data.

    ``axis`` is counted from the front. With ``exclusive`` each result lacks the value at its own
    place. With ``reverse`` the results begin at the axis's end.
    """

    axis: int
    exclusive: bool = False
    reverse: bool = False


def infer(attrs: RunningAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    shape = one_input("a running sum or product", inputs).shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis is {attrs.axis}; the input is {inputs[0]}")
    return (shape,)


def check(
    _attrs: RunningAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int32, int64 or float32 throughout."""
    return activations_constraint(inputs[0], outputs[0], DTYPES)


def results(attrs: RunningAttrs, operands: Operands, function: np.ufunc) -> tuple[Array, ...]:
    """The results of ``function``, applied to one value after another, beginning with its
    identity."""
    data, axis = operands.inputs[0], attrs.axis
    forward = np.flip(data, axis) if attrs.reverse else data
    accumulate: Any = function.accumulate
    with np.errstate(all="ignore"):
        found = accumulate(forward, axis, data.dtype)
    if attrs.exclusive:
        first = np.full_like(np.take(found, [0], axis), function.identity)
        others = np.take(found, range(data.shape[axis] - 1), axis)
        found = np.concatenate([first, others], axis)
    return (np.ascontiguousarray(np.flip(found, axis) if attrs.reverse else found),)
