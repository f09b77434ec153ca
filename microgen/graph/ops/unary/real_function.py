"""real_function: a function of each float32 value, which ``real_formulas`` defines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.balls import UNIT, spacing
from microgen.graph.ops.base import Inexact, Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import activations_constraint
from microgen.graph.ops.unary.real_formulas import FORMULAS


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


def infer(_attrs: RealFunctionAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The input's shape."""
    return (one_input("real_function", inputs).shape,)


def check(
    attrs: RealFunctionAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32 throughout, a known function, and numbers that are not NaN."""
    if attrs.function not in FORMULAS:
        return f"{attrs.function!r} is no function; it must be one of {', '.join(FORMULAS)}"
    if any(np.isnan(attrs.numbers)):
        return f"the numbers of {attrs.function} are {attrs.numbers}; none may be NaN"
    return activations_constraint(inputs[0], outputs[0], (DType.FLOAT32,))


def reference(attrs: RealFunctionAttrs, operands: Operands) -> tuple[Array, ...]:
    """The formula, rounded to float32."""
    return (floats.rounded(_real(attrs, operands.inputs[0])),)


def _real(attrs: RealFunctionAttrs, x: Array) -> Array:
    formula = FORMULAS[attrs.function]
    wide = x.astype(np.float32 if formula.is_stepwise else np.float64)
    with np.errstate(all="ignore"):
        return np.asarray(formula.real(attrs.numbers, wide))


def _bound(attrs: RealFunctionAttrs, given: Inexact) -> tuple[Array, ...]:
    """The kernels' errors, and the farthest results for arguments within the input's error."""
    formula = FORMULAS[attrs.function]
    x, error = given.operands.inputs[0].astype(np.float64), given.errors[0]
    expected = given.expected[0].astype(np.float64)
    own = formula.units * UNIT * np.abs(np.where(np.isfinite(x), x, 0))
    if given.is_exact:
        return (own + formula.ulps * spacing(expected),)
    ends = (_outward(x + sign * error, sign) for sign in (-1, 1))
    grown = np.maximum(*(np.abs(_real(attrs, end) - expected) for end in ends))
    if formula.margin:
        grown = grown + formula.margin(attrs.numbers, x, error)
    grown = np.where(np.isnan(grown) & (error > 0), np.inf, grown + formula.units * UNIT * error)
    return (own + grown + (formula.ulps + 1) * spacing(np.abs(expected) + grown),)


def _outward(values: Array, sign: int) -> Array:
    return np.nextafter(values.astype(np.float32), np.float32(sign * np.inf))


def parts(attrs: RealFunctionAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return (attrs.function,)


OP = Op(
    "real_function",
    RealFunctionAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.of_floats("the function's ulps", _bound),
)
