"""scatter: a tensor, some of whose rows are replaced by others or combined with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import (
    EXACT,
    Bound,
    Inexact,
    OpDefinition,
    Operands,
    Shape,
    Shapes,
    expect_inputs,
)
from microgen.graph.ops.constraints import all_unchanged, dtype_constraint
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.moves.indexed import expect_indices

_COMBINED = (DType.FLOAT32, DType.INT32, DType.INT64)
_COMBINE: Mapping[str, Callable[..., Any]] = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}


@dataclass(frozen=True, slots=True)
class ScatterAttrs(Attrs):
    """Inputs: data of ``shape``, or one element that fills it; int32 positions [count] of rows (the
    slices along the first axis); updates [count] of rows. ``reduction`` is "none": the update
    replaces the row, or "add", "mul", "max" or "min": the update is combined with the row. Updates
    are used in their order. Integers wrap.
    """

    shape: Shape
    reduction: str = "none"


def infer(attrs: ScatterAttrs, inputs: Types) -> Shapes:
    """``shape`` itself."""
    expect_inputs(inputs, 3, "data, positions, updates")
    data, positions, updates = inputs
    if attrs.reduction not in ("none", *_COMBINE) or not attrs.shape:
        raise ValueError(f"the reduction is {attrs.reduction!r}, the shape {list(attrs.shape)}")
    if data.shape != attrs.shape and data.size != 1:
        raise ValueError(f"the data is {data}; {list(attrs.shape)} or one element is expected")
    if len(positions.shape) != 1 or updates.shape != (*positions.shape, *attrs.shape[1:]):
        raise ValueError(
            f"the updates are {updates}, the positions {positions}; a position for each row of "
            f"{list(attrs.shape)} is expected"
        )
    return (attrs.shape,)


def check(attrs: ScatterAttrs, inputs: Types, outputs: Types) -> str | None:
    """Dtype and quantization are those of data and updates; numbers that are combined are plain."""
    data, positions, updates = inputs
    if sentence := dtype_constraint("positions", positions, (DType.INT32,), is_plural=True):
        return sentence
    if attrs.reduction != "none" and data.dtype not in _COMBINED:
        names = ", ".join(dtype.value for dtype in _COMBINED)
        return f"the data is {data}; to be combined it must be {names}"
    return all_unchanged((data, updates), outputs[0])


def reference(attrs: ScatterAttrs, operands: Operands) -> Arrays:
    """Source: ONNX, ScatterND. StatusError for a position outside the first axis."""
    data, positions, updates = operands.inputs
    expect_indices("scatter has positions from {} to {}", positions, attrs.shape[0], position=1)
    result = np.broadcast_to(data.reshape(() if data.size == 1 else data.shape), attrs.shape).copy()
    if attrs.reduction == "none":
        # If a row has several updates, the last one remains, which numpy's assignment does not
        # promise.
        last = {int(position): row for row, position in enumerate(positions)}
        result[list(last)] = updates[list(last.values())]
    else:
        with np.errstate(all="ignore"):
            _COMBINE[attrs.reduction](result, positions, updates)
    return (result,)


def cost(_attrs: ScatterAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost, in which each position counts as an entry of a dictionary."""
    elements = outputs[0].size + sum(tensor.size for tensor in inputs)
    return ReferenceCost(
        16 * elements + 200 * inputs[1].size, 2000 + 4 * elements + 20 * inputs[1].size
    )


def words(_word: str, attrs: ScatterAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("scatter",) if attrs.reduction == "none" else ("scatter", attrs.reduction)


_MOVES = bounds.moves(reference, (0, 2))


def _bound(attrs: ScatterAttrs, inexact: Inexact) -> Arrays:
    return (_MOVES if attrs.reduction == "none" else EXACT).of(attrs, inexact)


OP = OpDefinition(
    "scatter", ScatterAttrs, infer, check, reference, words, cost=cost, bound=Bound("equal", _bound)
)
