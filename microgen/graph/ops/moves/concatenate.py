"""concatenate: tensors joined one after the other along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class ConcatenateAttrs(Attrs):
    """Inputs: one or more tensors of one dtype. ``axis`` counts from the front."""

    axis: int


def infer(attrs: ConcatenateAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The first input's shape, with the sum of all sizes along the axis."""
    if not inputs:
        raise ValueError("concatenate has no input; one or more are expected")
    first, axis = inputs[0].shape, attrs.axis
    if not 0 <= axis < len(first):
        raise ValueError(f"the axis is {axis}; the first input is {inputs[0]}")
    for other in inputs[1:]:
        if _without(other.shape, axis) != _without(first, axis):
            raise ValueError(f"{inputs[0]} and {other} differ in more than their axis {axis}")
    return ((*first[:axis], sum(t.shape[axis] for t in inputs), *first[axis + 1 :]),)


def _without(shape: Shape, axis: int) -> Shape | None:
    return (*shape[:axis], -1, *shape[axis + 1 :]) if axis < len(shape) else None


def check(
    _attrs: ConcatenateAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype and quantization for all. TFLite's concatenation.cc refuses others, also int8."""
    sentences = (unchanged_constraint(data, outputs[0], EVERY_DTYPE) for data in inputs)
    return next((sentence for sentence in sentences if sentence), None)


def reference(attrs: ConcatenateAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/concatenation.h, Concatenation."""
    return (np.concatenate(operands.inputs, attrs.axis),)


def parts(_attrs: ConcatenateAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("concatenate",)


OP = Op(
    "concatenate",
    ConcatenateAttrs,
    infer,
    check,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference),
)
