"""topk: the positions of the greatest or least values along an axis, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops.base import Op, Operands, Shape, one_input

_INDICES = (DType.INT32, DType.INT64)


@dataclass(frozen=True, slots=True)
class TopKAttrs(Attrs):
    """Input: numbers of any dtype but bool; stored values are compared. Output: int32 or int64,
    the positions of the ``k`` greatest values along ``axis``, or of the least ones unless
    ``is_largest``. Of equal values the first one is the best, and NaN is the worst."""

    axis: int
    k: int
    is_largest: bool


def infer(attrs: TopKAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape with ``k`` elements along the axis."""
    shape = one_input("topk", inputs).shape
    if not 0 <= attrs.axis < len(shape):
        raise ValueError(f"the axis {attrs.axis} is not one of {inputs[0]}")
    if not 1 <= attrs.k <= shape[attrs.axis]:
        raise ValueError(
            f"{attrs.k} values are wanted of axis {attrs.axis} of {inputs[0]}; 1 to "
            f"{shape[attrs.axis]} are expected"
        )
    return ((*shape[: attrs.axis], attrs.k, *shape[attrs.axis + 1 :]),)


def check(
    _attrs: TopKAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Numbers, and positions that are plain int32 or int64."""
    if inputs[0].dtype is DType.BOOL:
        return f"the input is {inputs[0]}; it must be numbers"
    if outputs[0].dtype not in _INDICES or outputs[0].quant is not None:
        return f"the output is {outputs[0]}; it must be int32 or int64 without quantization"
    return None


def reference(attrs: TopKAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: ONNX, TopK."""
    data = np.moveaxis(operands.inputs[0], attrs.axis, -1)
    if attrs.is_largest:  # the reverse of the ascending order of the reversed values
        order = data.shape[-1] - 1 - np.argsort(data[..., ::-1], -1, "stable")[..., ::-1]
    else:
        order = np.argsort(data, -1, "stable")
    nan = np.isnan(np.take_along_axis(data, order, -1))
    order = np.take_along_axis(order, np.argsort(nan, -1, "stable"), -1)
    best = np.moveaxis(order[..., : attrs.k], -1, attrs.axis)
    return (np.ascontiguousarray(best, operands.output_types[0].dtype.numpy),)


def parts(_attrs: TopKAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("topk",)


OP = Op("topk", TopKAttrs, infer, check, reference, parts)
