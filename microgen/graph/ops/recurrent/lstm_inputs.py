"""The inputs of nn.lstm by name, and the loop over a sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from microgen.graph.ir.graph import Array

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
        data, weight, recurrent, bias, output_state, cell_state = values[:6]
        states = (output_state, cell_state)
        return Inputs(
            data, weight, recurrent, bias, *states, peephole, projection, next(optional, None)
        )

    def each(self, function: Callable[[T], U]) -> Inputs[U]:
        """The result of the function for each input that exists."""

        def optional(value: T | None) -> U | None:
            return None if value is None else function(value)

        return Inputs(
            function(self.data),
            function(self.weight),
            function(self.recurrent),
            function(self.bias),
            function(self.output_state),
            function(self.cell_state),
            optional(self.peephole),
            optional(self.projection),
            optional(self.projection_bias),
        )


Step = Callable[[Array, Array, Array], tuple[Array, Array]]


def run(inputs: Inputs[Array], time_major: bool, step: Step) -> tuple[Array, ...]:
    """The output, the new output state and the new cell state.

    ``step(x, output_state, cell_state)`` returns the two states after the input x
    [batch, features]; states are [batch, outputs] and [batch, cells].
    """
    steps = inputs.data if time_major else inputs.data.swapaxes(0, 1)
    batch = steps.shape[1]
    state, cell = inputs.output_state.reshape(batch, -1), inputs.cell_state.reshape(batch, -1)
    rows = []
    for x in steps:
        state, cell = step(x, state, cell)
        rows.append(state)
    output = np.stack(rows) if time_major else np.stack(rows, axis=1)
    shapes = (inputs.output_state.shape, inputs.cell_state.shape)
    return output, state.reshape(shapes[0]), cell.reshape(shapes[1])
