"""How far sound implementations may be from the references: the bounds that several ops share.

All follow from IEEE 754: a result rounded to nearest is off by u = 2**-24 of itself at most, and n
roundings one after another by gamma(n) = n u / (1 - n u). Integers are never off.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from microgen.arithmetic.terms import Activation
from microgen.ir.graph import Array
from microgen.ops.balls import LEAST, UNIT, Ball, gamma, spacing
from microgen.ops.base import EXACT as EQUAL
from microgen.ops.base import Bound, Inexact, Operands

Reference = Callable[[Any, Operands], tuple[Array, ...]]
Of = Callable[[Any, Inexact], tuple[Array, ...]]


def of_floats(rule: str, of: Of) -> Bound:
    """The bound where the output is float32; integers are equal, if their inputs are."""

    def bound(attrs: Any, given: Inexact) -> tuple[Array, ...]:
        if given.expected[0].dtype.kind != "f":
            return EQUAL.of(attrs, given)
        with np.errstate(all="ignore"):
            return of(attrs, given)

    return Bound(rule, bound)


def _moved(reference: Reference, positions: Sequence[int] | None) -> Of:
    def of(attrs: Any, given: Inexact) -> tuple[Array, ...]:
        data = range(len(given.errors)) if positions is None else positions
        others = (error for k, error in enumerate(given.errors) if k not in data)
        if given.is_exact or any(error.any() for error in others):
            return EQUAL.of(attrs, given)
        errors = {k: given.errors[k] for k in data}
        nothing = {k: np.zeros(error.shape) for k, error in errors.items()}
        moved, still = (reference(attrs, _with(given.operands, e)) for e in (errors, nothing))
        # What the op itself puts in (the value of a pad) is in both.
        return tuple(a.astype(np.float64) - b for a, b in zip(moved, still, strict=True))

    return of


def _with(operands: Operands, inputs: Mapping[int, Array]) -> Operands:
    """Some inputs replaced."""
    every = tuple(inputs.get(k, array) for k, array in enumerate(operands.inputs))
    return dataclasses.replace(operands, inputs=every)


def moves(reference: Reference, data: Sequence[int] | None = None) -> Bound:
    """Of ops that only move elements of the inputs ``data`` (of all): their errors go with them."""
    return Bound("equal", _moved(reference, data))


def _magnitudes(arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Of finite numbers; others are never rounded."""
    return tuple(np.abs(np.where(np.isfinite(a), a, 0)).astype(np.float64) for a in arrays)


def linear(reference: Reference, roundings: Callable[[Any, Operands], int], rule: str) -> Bound:
    """Of ops that are linear in each float input with weights that are not negative otherwise.

    An element of the output goes through so many ``roundings`` at most, the reference's own and the
    last among them. An infinite sum of magnitudes leaves any value.
    """

    def of(attrs: Any, given: Inexact) -> tuple[Array, ...]:
        if hasattr(attrs, "activation"):
            attrs = dataclasses.replace(attrs, activation=Activation.NONE)

        plain = _magnitudes(given.operands.inputs)
        count = roundings(attrs, given.operands)

        def summed(inputs: tuple[Array, ...]) -> Array:
            (total, *_) = reference(attrs, dataclasses.replace(given.operands, inputs=inputs))
            return total.astype(np.float64) * (1 + gamma(count))  # it may be rounded, too

        if given.is_exact:
            size = summed(plain)
            return (gamma(count) * size + count * LEAST,)
        size = summed(tuple(a + e for a, e in zip(plain, given.errors, strict=True)))
        grown = np.maximum(size - summed(plain), 0) + gamma(count) * size  # both may be rounded
        return (grown + gamma(count) * size + count * LEAST,)

    return of_floats(rule, of)


def products(
    reference: Reference, terms: Callable[[Any, Operands], int], *, is_wide: bool = True
) -> Bound:
    """Of sums of ``terms`` products and a bias: each product is rounded and every sum, and in the
    reference the result, or if it is not ``is_wide`` all of them."""

    def roundings(attrs: Any, operands: Operands) -> int:
        each = terms(attrs, operands) + 1
        return each + 1 if is_wide else 2 * each

    rule = f"gamma({'n + 2' if is_wide else '2 n + 2'}) * sum|x w| of n products"
    return linear(reference, roundings, rule)


def sums(reference: Reference, terms: Callable[[Any, Operands], int]) -> Bound:
    """Of sums and means of ``terms`` numbers, here and in the reference in float32."""

    def roundings(attrs: Any, operands: Operands) -> int:
        return 2 * terms(attrs, operands)

    return linear(reference, roundings, "gamma(2 n) * sum|x| of n terms")


def _inexactly(grown: Array, expected: Array) -> Array:
    """What one rounding adds to errors: two results are rounded, where inputs are not the same."""
    added = 2 * UNIT * (np.abs(expected) + grown) + LEAST
    return np.where(grown > 0, grown + added, 0.0)


def elementwise(grown: Callable[[Any, Inexact], Array], roundings: int = 1) -> Bound:
    """Of elementwise arithmetic, whose every operation IEEE 754 defines: equal results of equal
    inputs; ``grown`` is what becomes of their errors, without the ``roundings``."""

    def of(attrs: Any, given: Inexact) -> tuple[Array, ...]:
        if given.is_exact:
            return EQUAL.of(attrs, given)
        found = np.broadcast_to(grown(attrs, given), given.expected[0].shape)
        for _ in range(roundings):
            found = _inexactly(found, given.expected[0])
        return (found,)

    return dataclasses.replace(of_floats("equal", of), roundings=roundings)


def lipschitz(constant: Callable[[Any], float], roundings: int = 1) -> Bound:
    """Of functions of one number that change by ``constant(attrs)`` times its change at most."""
    return elementwise(lambda attrs, given: constant(attrs) * given.errors[0], roundings=roundings)


def balls(formula: Callable[[Any, Inexact], tuple[Ball, ...]]) -> Bound:
    """Of formulas of several steps: running error analysis of ``formula``, which gives all that the
    reference gives."""

    def of(attrs: Any, given: Inexact) -> tuple[Array, ...]:
        pairs = zip(formula(attrs, given), given.expected, strict=True)
        return tuple(ball.error + np.abs(ball.value - array) for ball, array in pairs)

    return of_floats("each step's rounding and ulps, followed to the end", of)


def inputs(given: Inexact) -> tuple[Ball, ...]:
    """A node's inputs with their errors."""
    pairs = zip(given.operands.inputs, given.errors, strict=True)
    return tuple(Ball.of(array, error) for array, error in pairs)


def function(real: Callable[[Any, Array], Array], ulps: int) -> Bound:
    """Of a function of one number that only rises or only falls, computed within so many ulps of
    the correctly rounded result."""

    def of(attrs: Any, given: Inexact) -> tuple[Array, ...]:
        expected = given.expected[0].astype(np.float64)
        if given.is_exact:
            return (ulps * spacing(expected),)
        data, error = given.operands.inputs[0], given.errors[0]
        ends = (_outward(data + sign * error, sign) for sign in (-1, 1))
        grown = np.maximum(*(np.abs(real(attrs, end) - expected) for end in ends))
        return (grown + (ulps + 1) * spacing(np.abs(expected) + grown),)

    return of_floats(f"{ulps} ulp" if ulps else "equal", of)


def _outward(values: Array, sign: int) -> Array:
    return np.nextafter(values.astype(np.float32), np.float32(sign * np.inf))


def sum_of_errors(_attrs: Any, given: Inexact) -> Array:
    """How a sum or a difference of both inputs grows."""
    left, right = given.errors
    return np.asarray(left + right)


def greatest_error(_attrs: Any, given: Inexact) -> Array:
    """How the greater or the lesser of both inputs grows."""
    return np.asarray(np.maximum(*given.errors))


def error_of_product(_attrs: Any, given: Inexact) -> Array:
    """How a product of both inputs grows."""
    (x, y), (left, right) = _magnitudes(given.operands.inputs), given.errors
    return np.asarray(x * right + y * left + left * right)


def error_of_quotient(_attrs: Any, given: Inexact) -> Array:
    """How a quotient of both inputs grows: without limit where the divisor may be 0."""
    (x, y), (left, right) = _magnitudes(given.operands.inputs), given.errors
    grown = (left + x / y * right) / np.maximum(y - right, 0)
    return np.where((left > 0) | (right > 0), grown, 0)


def error_of_square(_attrs: Any, given: Inexact) -> Array:
    """How the square of the difference of both inputs grows."""
    x, y = (array.astype(np.float64) for array in given.operands.inputs)
    error = given.errors[0] + given.errors[1]
    return np.asarray((2 * np.abs(x - y) + error) * error)
