"""The formulas of nn.recurrent: activation functions, one step, and the loop over a sequence, for
numbers with errors.

Source: ONNX, RNN, GRU and LSTM. A threshold is exceeded by greater numbers only, as in ONNX's
ThresholdedRelu and in ONNX Runtime. As in ONNX Runtime, a clip limits the sums of the gates, but
not the cell state, and if the input gate is coupled, the forget gate is one minus it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops.balls import Ball, Products, spacing, total
from microgen.graph.ops.unary import sigmoid

_EXPM1_ULPS = 2  # of expm1, as float_math.h states it, and half for the reference's own rounding
_SOFTPLUS_ULPS = 3
_SOFTSIGN_ULPS = 2  # two roundings


@dataclass(frozen=True, slots=True)
class ActivationFormula:
    """An activation function and the numbers in its formula, float32. ``name`` is a key of
    ``FORMULAS``."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0

    def __call__(self, x: Ball) -> Ball:
        """The results for the arguments."""
        with np.errstate(all="ignore"):
            return FORMULAS[self.name](x, np.float64(self.alpha), np.float64(self.beta))


def logistic(x: Array) -> Array:
    """The logistic function, in a form in which nothing cancels where it is nearly 0."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


def _number(value: float) -> Ball:
    return Ball.of(np.asarray(value))


def _affine(x: Ball, alpha: float, beta: float) -> Ball:
    return _number(alpha) * x + _number(beta)


def _steep(x: Ball, value: Array, slope: float) -> Ball:
    """Values of a function with at most that slope, rounded once."""
    error = max(1.0, abs(slope)) * x.error
    return Ball(value, error + spacing(np.abs(value) + error))


def _relu(x: Ball, _alpha: float, _beta: float) -> Ball:
    return Ball(np.maximum(x.value, 0), x.error)


def _leaky_relu(x: Ball, alpha: float, _beta: float) -> Ball:
    return _steep(x, np.where(x.value >= 0, x.value, alpha * x.value), alpha)


def _thresholded_relu(x: Ball, alpha: float, _beta: float) -> Ball:
    # The function jumps from 0 to alpha at its threshold, so both may be results of a near
    # argument.
    jumps = np.abs(x.value - alpha) <= x.error
    value = np.where(x.value > alpha, x.value, 0)
    return Ball(value, x.error + np.where(jumps & (x.error > 0), abs(alpha), 0))


def _scaled_tanh(x: Ball, alpha: float, beta: float) -> Ball:
    return _number(alpha) * (_number(beta) * x).apply(np.tanh, sigmoid.TANH_ULPS)


def _hard_sigmoid(x: Ball, alpha: float, beta: float) -> Ball:
    return _affine(x, alpha, beta).clipped(0, 1)


def _elu(x: Ball, alpha: float, _beta: float) -> Ball:
    below = Ball(np.minimum(x.value, 0), x.error).apply(np.expm1, _EXPM1_ULPS)
    value = np.where(x.value >= 0, x.value, alpha * below.value)
    # expm1 is rounded before the product with alpha, which enlarges its error.
    rounding = abs(alpha) * _EXPM1_ULPS * spacing(below.value)
    return _steep(Ball(x.value, x.error + rounding), value, alpha)


def _softsign(x: Ball, _alpha: float, _beta: float) -> Ball:
    return x.apply(lambda v: v / (1 + np.abs(v)), _SOFTSIGN_ULPS)


def _softplus(x: Ball, _alpha: float, _beta: float) -> Ball:
    return x.apply(lambda v: np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v))), _SOFTPLUS_ULPS)


FORMULAS: Mapping[str, Callable[[Ball, float, float], Ball]] = {
    "relu": _relu,
    "tanh": lambda x, _alpha, _beta: x.apply(np.tanh, sigmoid.TANH_ULPS),
    "sigmoid": lambda x, _alpha, _beta: x.apply(logistic, sigmoid.SIGMOID_ULPS),
    "affine": _affine,
    "leaky_relu": _leaky_relu,
    "thresholded_relu": _thresholded_relu,
    "scaled_tanh": _scaled_tanh,
    "hard_sigmoid": _hard_sigmoid,
    "elu": _elu,
    "softsign": _softsign,
    "softplus": _softplus,
}


T = TypeVar("T")
Off = Callable[[ActivationFormula, Ball], "Array | float"]
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
FUNCTIONS = {"rnn": 1, "gru": 2, "lstm": 3}
_ONE = Ball.of(np.ones(()))


@dataclass(frozen=True, slots=True)
class RecurrentInputs(Generic[T]):
    """The inputs of a node by name; see ``recurrent.RecurrentAttrs``."""

    data: T
    weight: T
    recurrent: T
    bias: T
    lengths: T
    hidden: T | None = None
    cell: T | None = None
    peephole: T | None = None

    @staticmethod
    def of(values: Sequence[T], kind: str) -> RecurrentInputs[T]:
        """From a node's list. ValueError if it is too short or too long."""
        most = 8 if kind == "lstm" else 6
        if not 5 <= len(values) <= most:
            raise ValueError(f"nn.recurrent has {len(values)} inputs; 5 to {most} are expected")
        return RecurrentInputs(*values)


def never_off(_function: ActivationFormula, _result: Ball) -> float:
    """The error of functions that are within their ulps."""
    return 0.0


@dataclass(frozen=True, slots=True)
class RecurrentLayer:
    """The attributes and inputs that a step needs. ``off`` is the error that a function's result
    may have in an implementation, in addition to the function's ulps.
    """

    kind: str
    functions: tuple[ActivationFormula, ...]
    clip: float
    resets_after: bool
    couples: bool
    weight: Ball
    recurrent: Ball
    bias: Ball
    peephole: Ball | None
    off: Off = never_off

    def sums(self, gate: int, x: Ball, state: Ball, added: Sequence[Ball] = ()) -> Ball:
        """The sums of a gate: its products with the input and a state, its bias, and ``added``."""
        products = [self._inputs(gate, x), self._states(gate, state)]
        return total(products, [self.bias[gate], *added])

    def _inputs(self, gate: int, x: Ball) -> Products:
        return Products(x, self.weight[gate], "bi,ci->bc", self.weight.value.shape[2])

    def _states(self, gate: int, state: Ball) -> Products:
        return Products(state, self.recurrent[gate], "bo,co->bc", self.recurrent.value.shape[2])

    def gate(self, sums: Ball, function: int) -> Ball:
        """The function of limited sums."""
        return self.function(function, sums.clipped(-self.clip, self.clip))

    def function(self, position: int, x: Ball) -> Ball:
        """One of the functions."""
        found = self.functions[position](x)
        return Ball(found.value, found.error + self.off(self.functions[position], found))

    def step(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        """The hidden state and the cell state after an input [batches, features]."""
        after = {"rnn": self._rnn, "gru": self._gru, "lstm": self._lstm}[self.kind]
        hidden, cell = after(x, state, cell)
        return hidden.stored(), cell.stored()

    def _rnn(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        return self.gate(self.sums(0, x, state), 0), cell

    def _gru(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        keep, reset = (self.gate(self.sums(gate, x, state), 0) for gate in (0, 1))
        if self.resets_after:
            old = reset * total([self._states(2, state)], [self.bias[3]])
            sums = total([self._inputs(2, x)], [self.bias[2], old])
        else:
            sums = self.sums(2, x, reset * state)
        return (_ONE - keep) * self.gate(sums, 1) + keep * state, cell

    def _lstm(self, x: Ball, state: Ball, cell: Ball) -> tuple[Ball, Ball]:
        def seen(place: int, state_of_cell: Ball) -> list[Ball]:
            if self.peephole is None:
                return []
            return [self.peephole[place] * state_of_cell]

        take = self.gate(self.sums(0, x, state, seen(0, cell)), 0)
        free = self.gate(self.sums(2, x, state, seen(2, cell)), 0)
        keep = _ONE - take if self.couples else free
        change = self.gate(self.sums(3, x, state), 1)
        cell = (keep * cell + take * change).stored()
        output = self.gate(self.sums(1, x, state, seen(1, cell)), 0)
        return output * self.function(2, cell), cell


def run(
    layer: RecurrentLayer,
    given: RecurrentInputs[Ball],
    *,
    reverse: bool,
    found: Array | None = None,
) -> tuple[Ball, Ball, Ball]:
    """All hidden states [steps, batches, cells], the last hidden states and the last cell states
    [batches, cells].

    Each step is computed in float64 from the float32 states that the step before it left.
    ``found`` has the hidden states that an implementation left. If it is given, each step reads
    them there, so that errors do not add up over steps.
    """
    steps, batches, _ = given.data.value.shape
    cells = layer.recurrent.value.shape[2]
    lengths = given.lengths.value.astype(np.int64).clip(0, steps)
    every = np.arange(batches)
    rows = _zeros((steps, batches, cells))
    state, cell = (_initial(each, lengths, cells) for each in (given.hidden, given.cell))
    last = state
    for step in range(int(lengths.max(initial=0))):
        active = step < lengths
        # Place 0 of a sequence that has ended is computed in vain, because numpy needs some index.
        place = np.where(active, lengths - 1 - step if reverse else step, 0)
        after, cell_after = layer.step(given.data[place, every], state, cell)
        last, cell = (_where(active, *pair) for pair in ((after, last), (cell_after, cell)))
        for whole, part in ((rows.value, after.value), (rows.error, after.error)):
            whole[place[active], active] = part[active]
        known = after if found is None else Ball.of(found[place, every])
        state = _where(active, known, state)
    return rows, last, cell


def _zeros(shape: tuple[int, ...]) -> Ball:
    return Ball(np.zeros(shape), np.zeros(shape))


def _initial(given: Ball | None, lengths: Array, cells: int) -> Ball:
    """The state before the first step; 0 for sequences without steps."""
    zeros = _zeros((len(lengths), cells))
    return zeros if given is None else _where(lengths > 0, given, zeros)


def _where(chosen: Array, one: Ball, other: Ball) -> Ball:
    """The rows of one array where chosen, otherwise the rows of the other."""
    column = chosen[:, None]
    return Ball(np.where(column, one.value, other.value), np.where(column, one.error, other.error))
