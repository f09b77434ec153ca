"""real_function: a function of each float32 value, by the name of its formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import UNIT, spacing
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, like_input
from microgen.graph.ops.constraints import activations_constraint

Numbers = tuple[np.float32, ...]  # alpha, beta and gamma
Real = Callable[[Numbers, Array], Array]
_GELU = math.sqrt(2 / math.pi)


@dataclass(frozen=True, slots=True)
class Formula:
    """A function of one value."""

    # In double from float64 values, which are then rounded once, or, if ``is_stepwise``, step by
    # step in float32, which kernels compute with the same bits.
    real: Real
    # units in the last place by which other kernels may differ from the rounded result,
    ulps: int = 0
    units: int = 0  # and the number of times 2**-24 |x| in addition
    is_stepwise: bool = False
    # ``margin(numbers, x, error)``: the additional distance of results for arguments within an
    # error of x, compared with the results at both ends of that interval. It is 0 for monotonic
    # functions.
    margin: Callable[[Numbers, Array, Array], Array] | None = None


def _plain(function: Callable[[Array], Array], ulps: int) -> Formula:
    return Formula(lambda _numbers, x: function(x), ulps)


def _stepwise(real: Real, slope: float = 0) -> Formula:
    return Formula(real, is_stepwise=True, margin=_steep(slope) if slope else None)


def _steep(slope: float) -> Callable[[Numbers, Array, Array], Array]:
    return lambda _numbers, _x, error: slope * error


def erf(x: Array) -> Array:
    """The error function of float64 values."""
    flat = [math.erf(value) for value in x.reshape(-1).tolist()]
    return np.asarray(flat, np.float64).reshape(x.shape)


def _softplus(x: Array) -> Array:
    # exp of a large positive number would overflow, so its argument is never positive.
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _bounded(numbers: Numbers, x: Array) -> Array:
    return np.minimum(np.maximum(x, numbers[0]), numbers[1])


def _hard_sigmoid(numbers: Numbers, x: Array) -> Array:
    line = numbers[0] * x + numbers[1]
    return np.asarray(np.minimum(np.maximum(line, np.float32(0)), np.float32(1)))


def _shrink(numbers: Numbers, x: Array) -> Array:
    # Source: Shrink of ONNX; alpha is lambd, beta the bias.
    threshold, bias = numbers[:2]
    above = np.where(x > threshold, x - bias, np.float32(0))
    return np.where(x < -threshold, x + bias, above)


def _sign(_numbers: Numbers, x: Array) -> Array:
    """1, -1, or the value itself for zeros and NaN."""
    return np.where(x > 0, np.float32(1), np.where(x < 0, np.float32(-1), x))


def _thresholded_relu(numbers: Numbers, x: Array) -> Array:
    return np.where(x > numbers[0], x, np.float32(0))


def _softsign(_numbers: Numbers, x: Array) -> Array:
    return x / (np.float32(1) + np.abs(x))


def _reciprocal(_numbers: Numbers, x: Array) -> Array:
    return np.float32(1) / x


def _scaled_elu(numbers: Numbers, x: Array) -> Array:
    """ELU, CELU or SELU: gamma x if x is positive, else alpha (exp(x / beta) - 1)."""
    alpha, beta, gamma = (float(number) for number in numbers)
    return np.where(x > 0, gamma * x, alpha * np.expm1(np.minimum(x, 0) / beta))


def _swish(numbers: Numbers, x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-float(numbers[0]) * x)))


def _gelu(_numbers: Numbers, x: Array) -> Array:
    # 1 + erf(x) would be 0 for x below -6, where the result is not.
    complement = [math.erfc(value) for value in (x / -math.sqrt(2)).reshape(-1).tolist()]
    return np.asarray(0.5 * x * np.reshape(complement, x.shape))


def _gelu_tanh(_numbers: Numbers, x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(_GELU * (x + 0.044715 * x**3))))


def _mish(_numbers: Numbers, x: Array) -> Array:
    return x * np.tanh(_softplus(x))


def _pole(is_near: Callable[[Array, Array], Array]) -> Callable[[Numbers, Array, Array], Array]:
    return lambda _numbers, x, error: np.where(is_near(x, error), np.inf, 0)


def _crosses_pole(x: Array, error: Array) -> Array:
    # The poles are at odd multiples of pi / 2.
    ends = (np.floor((x + sign * error) / np.pi + 0.5) for sign in (-1, 1))
    return np.asarray(np.not_equal(*ends))


def _at_zero(numbers: Numbers, x: Array, error: Array) -> Array:
    """The distance of the expected result to 0, the function's value at 0, for arguments whose
    interval contains 0. The function is monotonic on both sides of 0."""
    return np.where(np.abs(x) <= error, np.abs(_scaled_elu(numbers, x)), 0)


# ulps: as in the headers of the functions, plus half for the reference's own rounding
FORMULAS = {
    "erf": _plain(erf, 2),
    "tan": Formula(lambda _n, x: np.tan(x), 3, margin=_pole(_crosses_pole)),
    "asin": _plain(np.arcsin, 3),
    "acos": _plain(np.arccos, 2),
    "atan": _plain(np.arctan, 3),
    "sinh": _plain(np.sinh, 3),
    "cosh": _plain(np.cosh, 2),  # convex, so the farthest result is at an end
    "asinh": _plain(np.arcsinh, 3),
    "acosh": _plain(np.arccosh, 3),
    "atanh": _plain(np.arctanh, 3),
    "softplus": _plain(_softplus, 3),
    "mish": Formula(_mish, 4, margin=_steep(1.1)),
    "swish": Formula(_swish, units=4, margin=_steep(1.1)),
    "gelu": Formula(_gelu, units=4, margin=_steep(1.15)),
    "gelu_tanh": Formula(_gelu_tanh, units=4, margin=_steep(1.15)),
    "scaled_elu": Formula(_scaled_elu, 4, margin=_at_zero),
    "reciprocal": Formula(
        _reciprocal, is_stepwise=True, margin=_pole(lambda x, error: np.abs(x) <= error)
    ),
    "bounded": _stepwise(_bounded),
    "hard_sigmoid": _stepwise(_hard_sigmoid),
    "shrink": _stepwise(_shrink, 2),
    "sign": _stepwise(_sign),
    "softsign": _stepwise(_softsign),
    "thresholded_relu": _stepwise(_thresholded_relu, 2),
}


@dataclass(frozen=True, slots=True)
class RealFunctionAttrs(Attrs):
    """Input: float32 data of any rank. ``function`` is a key of ``FORMULAS``; the others are the
    numbers in its formula, float32."""

    function: str
    alpha: float = 0.0
    beta: float = 0.0
    gamma: float = 0.0

    @property
    def numbers(self) -> tuple[np.float32, ...]:
        """The numbers as float32."""
        return tuple(np.float32(number) for number in (self.alpha, self.beta, self.gamma))


def check(attrs: RealFunctionAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout, a known function, and numbers that are not NaN."""
    if attrs.function not in FORMULAS:
        return f"{attrs.function!r} is no function; it must be one of {', '.join(FORMULAS)}"
    if any(np.isnan(attrs.numbers)):
        return f"the numbers of {attrs.function} are {attrs.numbers}; none may be NaN"
    return activations_constraint(inputs[0], outputs[0], (DType.FLOAT32,))


def reference(attrs: RealFunctionAttrs, operands: Operands) -> Arrays:
    """The formula, rounded to float32."""
    return (floats.rounded(_real(attrs, operands.inputs[0])),)


def _real(attrs: RealFunctionAttrs, x: Array) -> Array:
    formula = FORMULAS[attrs.function]
    wide = x.astype(np.float32 if formula.is_stepwise else np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(formula.real(attrs.numbers, wide))


def _bound(attrs: RealFunctionAttrs, inexact: Inexact) -> Arrays:
    """The kernels' errors plus the greatest change of the result within the input's error."""
    formula = FORMULAS[attrs.function]
    x, error = inexact.operands.inputs[0].astype(np.float64), inexact.errors[0]
    expected = inexact.expected[0].astype(np.float64)
    own = formula.units * UNIT * np.abs(np.where(np.isfinite(x), x, 0))
    if inexact.is_exact:
        return (own + formula.ulps * spacing(expected),)
    ends = (bounds.outward(x + sign * error, sign) for sign in (-1, 1))
    grown = np.maximum(*(np.abs(_real(attrs, end) - expected) for end in ends))
    if formula.margin:
        grown = grown + formula.margin(attrs.numbers, x, error)
    grown = np.where(np.isnan(grown) & (error > 0), np.inf, grown + formula.units * UNIT * error)
    return (own + grown + (formula.ulps + 1) * spacing(np.abs(expected) + grown),)


def words(_word: str, attrs: RealFunctionAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return (attrs.function,)


OP = OpDefinition(
    "real_function",
    RealFunctionAttrs,
    like_input("real_function"),
    check,
    reference,
    words,
    bound=bounds.of_floats("the function's ulps", _bound),
)
