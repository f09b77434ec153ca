"""resample: weighted sums of neighbouring values along an axis, for each new place on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape
from microgen.graph.ops.cost import Cost, products


@dataclass(frozen=True, slots=True)
class ResampleAttrs(Attrs):
    """Inputs: float32 data; int32 [places], the first of the values that each place is made from;
    float32 weights [places, n], those of n values in a row. All of them are inside ``axis``."""

    axis: int


def infer(attrs: ResampleAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape with the number of places along the axis."""
    if len(inputs) != 3:
        raise ValueError(f"there are {len(inputs)} inputs; data, first and weights are expected")
    (data, first, weights), axis = inputs, attrs.axis
    if not 0 <= axis < len(data.shape):
        raise ValueError(f"the axis is {axis}; the data is {data}")
    if len(first.shape) != 1 or len(weights.shape) != 2 or weights.shape[:1] != first.shape:
        raise ValueError(f"the weights are {weights}, the first values {first}; they must agree")
    if not 1 <= weights.shape[1] <= data.shape[axis]:
        raise ValueError(f"{weights.shape[1]} values are added up along axis {axis} of {data}")
    return ((*data.shape[:axis], *first.shape, *data.shape[axis + 1 :]),)


def check(
    _attrs: ResampleAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32 data, weights and output."""
    data, first, weights = inputs
    for role, tensor in (("data", data), ("weights", weights), ("output", outputs[0])):
        if tensor.dtype is not DType.FLOAT32:
            return f"the {role} is {tensor}; it must be float32"
    return (
        None if first.dtype is DType.INT32 else f"the first values are {first}; int32 is expected"
    )


def reference(attrs: ResampleAttrs, operands: Operands) -> tuple[Array, ...]:
    """Products and sums are rounded to float32, in order. Source: ONNX, Resize."""
    data, first, weights = operands.inputs
    start = first.astype(np.int64)
    shape = (-1, *(1,) * (data.ndim - 1 - attrs.axis))
    total = weights[:, 0].reshape(shape) * data.take(start, attrs.axis)
    for n in range(1, weights.shape[1]):
        total = total + weights[:, n].reshape(shape) * data.take(start + n, attrs.axis)
    return (total,)


def cost(
    _attrs: ResampleAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> Cost:
    """One product for each value."""
    n = inputs[2].shape[1]
    return products(inputs, outputs, n * math.prod(outputs[0].shape), calls=4 * n)


def parts(_attrs: ResampleAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("resample",)


def _terms(_attrs: ResampleAttrs, operands: Operands) -> int:
    return operands.input_types[2].shape[1]


OP = Op(
    "resample",
    ResampleAttrs,
    infer,
    check,
    reference,
    parts,
    cost=cost,
    bound=bounds.products(reference, _terms, is_wide=False),
)
