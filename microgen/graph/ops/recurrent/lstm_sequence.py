"""nn.lstm: its inputs by name, the loop over a sequence, and the float32 reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from microgen.graph.ir.graph import Array, Arrays
from microgen.graph.ops.balls import Ball, Products, total
from microgen.graph.ops.recurrent.recurrent_steps import logistic
from microgen.graph.ops.unary import sigmoid

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Inputs(Generic[T]):
    """Types, arrays or names of the inputs; see ``lstm.LstmAttrs``."""

    data: T
    weight: T
    recurrent: T
    bias: T
    output_state: T
    cell_state: T
    peephole: T | None
    projection: T | None
    projection_bias: T | None

    @staticmethod
    def of(values: Sequence[T], has_peephole: bool, has_projection: bool) -> Inputs[T]:
        """From a node's list. ValueError if it is too short or too long."""
        least = 6 + has_peephole + has_projection
        if not least <= len(values) <= least + has_projection:
            raise ValueError(f"nn.lstm has {len(values)} inputs; {least} are expected")
        optional = iter(values[6:])
        peephole = next(optional) if has_peephole else None
        projection = next(optional) if has_projection else None
        fields: list[Any] = [*values[:6], peephole, projection, next(optional, None)]
        return Inputs(*fields)

    def each(self, function: Callable[[T], U]) -> Inputs[U]:
        """The result of the function for each input that exists."""
        values = (getattr(self, field.name) for field in dataclasses.fields(self))
        fields: list[Any] = [value if value is None else function(value) for value in values]
        return Inputs(*fields)


def by_steps(rows: Array, time_major: bool) -> Array:
    """Rows [steps, batch, ...] of rows in the order of the model."""
    return rows if time_major else rows.swapaxes(0, 1)


Step = Callable[[Array, Array, Array], tuple[Array, Array]]


def run(inputs: Inputs[Array], time_major: bool, step: Step) -> Arrays:
    """The output, the new output state and the new cell state.

    ``step(x, output_state, cell_state)`` returns the two states after the input x
    [batch, features]; states are [batch, outputs] and [batch, cells].
    """
    steps = by_steps(inputs.data, time_major)
    batch = steps.shape[1]
    state, cell = inputs.output_state.reshape(batch, -1), inputs.cell_state.reshape(batch, -1)
    rows = []
    for x in steps:
        state, cell = step(x, state, cell)
        rows.append(state)
    output = np.stack(rows, axis=0 if time_major else 1)
    return output, state.reshape(inputs.output_state.shape), cell.reshape(inputs.cell_state.shape)


# The float32 reference. Source: TFLite lstm_eval.cc, LstmStepFloat.

Clips = tuple[float, float]  # of the cell state and of the projection; 0: none
_ONE = Ball.of(np.ones(()))


def run_float(
    inputs: Inputs[Ball], clips: Clips, *, time_major: bool, actual: Array | None = None
) -> tuple[Ball, ...]:
    """The result of ``lstm_sequence.run``. Each step is computed in float64 from the float32 states
    that the step before it left.

    ``actual`` is the output of an implementation. If it is given, each step reads the output state
    that the implementation left there, so that errors do not add up over steps.
    """
    left = iter(() if actual is None else (None, *by_steps(actual, time_major)))

    def step(x: Array, state: Array, cell: Array) -> tuple[Array, Array]:
        known = next(left, None)
        before = state if known is None else known
        outputs, cells = _step(inputs, clips, Ball.of(x), Ball.of(before), Ball.of(cell))
        return outputs.packed(), cells.packed()

    packed = inputs.each(Ball.packed)
    return tuple(map(Ball.of, run(packed, time_major, step)))


def _step(w: Inputs[Ball], clips: Clips, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
    *before, change, _ = _gates(w, x, state, cell)
    keep = _sigmoid(before[-1])
    take = _sigmoid(before[0]) if len(before) > 1 else _ONE - keep
    # stored(): TFLite keeps float32 states between steps, so each is rounded here.
    cell = _clipped(keep * cell + take * _tanh(change), clips[0]).stored()
    output = _gates(w, x, state, cell)[-1]
    hidden = _sigmoid(output) * _tanh(cell)
    return _projected(w, clips[1], hidden).stored(), cell


def _gates(w: Inputs[Ball], x: Ball, state: Ball, cell: Ball) -> list[Ball]:
    """The arguments of each gate's function, [batch, cells]: input if there is one, forget, cell,
    output. ``cell`` is the state that peepholes see."""
    peepholes: list[list[Ball]] = [[] for _ in w.bias]
    if w.peephole is not None:
        *first, last = ([weight] for weight in w.peephole)
        peepholes = [*first, [], last]
    gates = zip(w.weight, w.recurrent, w.bias, peepholes, strict=True)
    return [
        total(
            [
                Products(x, weight, "bi,ci->bc", weight.value.shape[1]),
                Products(state, recurrent, "bo,co->bc", recurrent.value.shape[1]),
                *(Products(cell, one, "bc,c->bc", 1) for one in peephole),
            ],
            [bias],
        )
        for weight, recurrent, bias, peephole in gates
    ]


def _projected(w: Inputs[Ball], clip: float, hidden: Ball) -> Ball:
    if w.projection is None:
        return hidden
    products = Products(hidden, w.projection, "bc,oc->bo", hidden.value.shape[1])
    return _clipped(
        total([products], [] if w.projection_bias is None else [w.projection_bias]), clip
    )


def _clipped(values: Ball, limit: float) -> Ball:
    return values.clipped(-limit, limit) if limit > 0 else values


def _sigmoid(x: Ball) -> Ball:
    return x.apply(logistic, sigmoid.SIGMOID_ULPS)


def _tanh(x: Ball) -> Ball:
    return x.apply(np.tanh, sigmoid.TANH_ULPS)
