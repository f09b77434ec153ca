"""The activation functions and inputs of nn.recurrent, for numbers with errors.

Source: ONNX, RNN, GRU and LSTM. Only greater numbers exceed a threshold, as in ONNX's
ThresholdedRelu and in ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops.balls import Ball, spacing
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
    # The function jumps from 0 to alpha at its threshold, so both may be results of an argument
    # near it.
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
    """The additional error of functions whose errors are within their ulps: 0."""
    return 0.0
