"""The errors of all steps of an LSTM at once.

Step by step, errors e follow e[t] = g[t](e[t - 1]), in which no g[t] ever decreases. If errors a
are such that g[t](a[t - 1]) <= a[t] for each t, then e[t] <= g[t](a[t - 1]) by induction. One call
computes all g[t], so it is cheap to prove this for errors that were found in any way. They are
found by the slopes of the functions, slightly increased. If the proof fails, nothing is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops.balls import Ball, Exact
from microgen.graph.ops.recurrent.recurrent_steps import GATES, RecurrentInputs, logistic

_LEAST = 16  # steps; fewer are as fast one by one
_FACTORS = (1.01, 1.03, 1.1)  # of the errors that are tried
FUNCTIONS = ["sigmoid", "tanh", "tanh"]  # of the LSTMs for which this works

Errors = tuple[Array, Array]  # of hidden states and cell states: [steps, batches, cells]


class SlopedLayer(Protocol):
    """An LSTM with these functions, without peepholes and coupled gates."""

    @property
    def inputs(self) -> RecurrentInputs[Ball]:
        """Its inputs."""
        ...

    def step(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        """The hidden state and the cell state after an input."""
        ...

    def sums(self, gate: int, x: Ball, state: Ball, added: Sequence[Ball] = ()) -> Ball:
        """The sums of a gate."""
        ...

    def cells(self, x: Ball, states: Ball, cell: Ball) -> tuple[Ball, Ball]:
        """The output gates, and the cell states after each step."""
        ...


def all_steps(
    layer: SlopedLayer, exact: SlopedLayer, x: Ball, state: Ball, cell: Ball, known: Array
) -> tuple[Ball, Ball] | None:
    """The hidden states after the inputs [steps, batches, features] and the last cell state, if
    ``known`` are the reference's hidden states, float64 [steps, batches, cells]; None if no errors
    are found. ``exact`` is the layer with the values of its inputs only. The errors are at most
    some percent greater than those of one step after another.
    """
    if len(known) < _LEAST or not np.isfinite(known).all():
        return None
    steps = _Steps(layer, exact, x, state, cell, known)
    about = steps.about()
    for factor in _FACTORS:
        tried = (factor * about[0], factor * about[1])
        after = steps.after(tried)
        # A comparison with NaN is false.
        if all((a <= b).all() and np.isfinite(a).all() for a, b in zip(after, tried, strict=True)):
            return Ball(known, after[0]), Ball(steps.cells[-1], after[1][-1])
    return None


class _Steps:
    """All steps of a layer, with the reference's values before and after each."""

    def __init__(
        self, layer: SlopedLayer, exact: SlopedLayer, x: Ball, state: Ball, cell: Ball, known: Array
    ) -> None:
        self.layer, self._exact, self.x, self.known = layer, exact, x, known
        self.state, self.cell = state, cell
        states = Exact(_before(state.value, known))
        self.cells = exact.cells(Exact(x.value), states, Exact(cell.value))[1].value

    def after(self, errors: Errors) -> Errors:
        """The errors after each step, if ``errors`` are those after the step before it."""
        state = Ball(_before(self.state.value, self.known), _before(self.state.error, errors[0]))
        cell = Ball(_before(self.cell.value, self.cells), _before(self.cell.error, errors[1]))
        after = self.layer.step(flat(self.x), flat(state), flat(cell))
        # The errors are those of the known values, from which these may differ by a rounding.
        hidden, moved = (
            ball.error.reshape(values.shape) + np.abs(ball.value.reshape(values.shape) - values)
            for ball, values in zip(after, (self.known, self.cells), strict=True)
        )
        return hidden, moved

    def about(self) -> Errors:
        """About the errors after each step: those of each step by itself, and those before it
        times the slopes of the functions."""
        nothing = np.zeros(self.known.shape)
        hidden, moved = (each.copy() for each in self.after((nothing, nothing)))
        carried, slopes, shown = self._slopes()
        weights = np.abs(self._exact.inputs.recurrent.value)
        gates, cells, _ = weights.shape
        columns = weights.reshape(gates * cells, cells).T
        for step in range(1, len(hidden)):
            error, own = hidden[step - 1], moved[step - 1]
            sums = slopes[step] * (error @ columns).reshape(slopes.shape[1:])
            grown = carried[step] * own + sums[:, 0] + sums[:, 2] + sums[:, 3]
            moved[step] += grown
            hidden[step] += shown[step] * grown + sums[:, 1]
        return hidden, moved

    def _slopes(self) -> tuple[Array, Array, Array]:
        """For each step the influence of the cell state's error on the next one; that of each
        gate's sum [steps, batches, gates, cells], on the cell state or, of the output gate, on the
        hidden state; and that of the cell state on the hidden state."""
        x, states = flat(Exact(self.x.value)), flat(Exact(_before(self.state.value, self.known)))
        sums = [self._exact.sums(gate, x, states).value for gate in range(GATES["lstm"])]
        take, output, keep = (logistic(each).reshape(self.known.shape) for each in sums[:3])
        change = np.tanh(sums[3]).reshape(self.known.shape)
        shown, before = np.tanh(self.cells), _before(self.cell.value, self.cells)
        each = (
            np.abs(change) * take * (1 - take),
            np.abs(shown) * output * (1 - output),
            np.abs(before) * keep * (1 - keep),
            take * (1 - change**2),
        )
        return keep, np.stack(each, axis=2), output * (1 - shown**2)


def _before(first: Array, after: Array) -> Array:
    """The arrays before each step: the first, and those after the other steps."""
    return np.concatenate([first[None], after[:-1]])


def flat(each: Ball) -> Ball:
    """Steps and batches as one axis."""
    return each.moved(lambda array: array.reshape(-1, array.shape[-1]))
