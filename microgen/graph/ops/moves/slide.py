"""slide: a window moved on, its oldest rows replaced by new ones at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class SlideAttrs(Attrs):
    """Inputs: a window, and new rows, fewer than the window has. ``axis`` counts from the front;
    all axes before it have the size 1."""

    axis: int


def infer(attrs: SlideAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The window's shape."""
    if len(inputs) != 2:
        raise ValueError(f"slide has {len(inputs)} inputs; a window and new rows are expected")
    (window, rows), axis = (t.shape for t in inputs), attrs.axis
    if not 0 <= axis < len(window) or math.prod(window[:axis]) != 1:
        raise ValueError(f"the axis is {axis}; the window is {inputs[0]}")
    if len(rows) != len(window) or (*rows[:axis], *rows[axis + 1 :]) != (
        *window[:axis],
        *window[axis + 1 :],
    ):
        raise ValueError(f"{inputs[0]} and {inputs[1]} differ in more than their axis {axis}")
    if rows[axis] >= window[axis]:
        raise ValueError(f"the new rows are {inputs[1]}; fewer than {inputs[0]} are expected")
    return (window,)


def check(
    _attrs: SlideAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype and quantization for all."""
    sentences = (unchanged_constraint(data, outputs[0], EVERY_DTYPE) for data in inputs)
    return next((sentence for sentence in sentences if sentence), None)


def reference(attrs: SlideAttrs, operands: Operands) -> tuple[Array, ...]:
    """The rows of the window after as many as are new, then the new ones. Source: it is TFLite's
    concatenation.h, Concatenation, and strided_slice.h, StridedSlice."""
    window, rows = operands.inputs
    count = window.shape[attrs.axis]
    kept = window.take(range(rows.shape[attrs.axis], count), attrs.axis)
    return (np.concatenate([kept, rows], attrs.axis),)


def parts(_attrs: SlideAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("slide",)


OP = Op(
    "slide",
    SlideAttrs,
    infer,
    check,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference),
)
