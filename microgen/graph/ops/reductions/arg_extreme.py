"""Shared by argmax and argmin: the position of an extreme along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Shape, one_input
from microgen.graph.ops.constraints import activation_constraint


@dataclass(frozen=True, slots=True)
class ArgExtremeAttrs(Attrs):
    """``axis`` is counted from the front."""

    axis: int


def infer(attrs: ArgExtremeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape without the axis."""
    one_input("argmax or argmin", inputs)
    shape = inputs[0].shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis {attrs.axis} is not one of {inputs[0]}")
    return ((*shape[: attrs.axis], *shape[attrs.axis + 1 :]),)


def check(
    _attrs: ArgExtremeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, int32 or float32 data, and positions that are plain int32 or int64 numbers."""
    if outputs[0].dtype not in (DType.INT32, DType.INT64) or outputs[0].quant is not None:
        return f"the output is {outputs[0]}; it must be int32 or int64 without quantization"
    return activation_constraint("input", inputs[0], (DType.INT8, DType.INT32, DType.FLOAT32))


def first(data: Array, attrs: ArgExtremeAttrs, positions: Array, output: TensorType) -> Array:
    """``positions`` of extremes among numbers. 0 if NaN comes first, because nothing exceeds it."""
    leading = np.isnan(data.take(0, attrs.axis))
    return np.where(leading, 0, positions).astype(output.dtype.numpy)
