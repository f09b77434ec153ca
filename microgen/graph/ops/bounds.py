"""The largest distances of sound implementations from the references: bounds that several ops
share.

All follow from IEEE 754. Rounding to nearest changes a result by at most u = 2**-24 of itself, and
n successive roundings by at most gamma(n) = n u / (1 - n u). Integers are always exact.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Arrays
from microgen.graph.ops.balls import LEAST, UNIT, Ball, gamma, spacing
from microgen.graph.ops.base import EXACT as EQUAL
from microgen.graph.ops.base import Bound, Inexact, Operands, Reference

Of = Callable[[Any, Inexact], Arrays]


def of_floats(rule: str, of: Of) -> Bound:
    """A bound for float32 outputs. Integer outputs must be equal if their inputs are."""

    def bound(attrs: Any, inexact: Inexact) -> Arrays:
        if inexact.expected[0].dtype.kind != "f":
            return EQUAL.of(attrs, inexact)
        # Operands may be infinite or NaN, and bounds, too.
        with np.errstate(all="ignore"):
            return of(attrs, inexact)

    return Bound(rule, bound)


def _moved(reference: Reference, positions: Sequence[int] | None) -> Of:
    def of(attrs: Any, inexact: Inexact) -> Arrays:
        data = range(len(inexact.errors)) if positions is None else positions
        others = (error for k, error in enumerate(inexact.errors) if k not in data)
        # With other indices or conditions, other elements are moved: EQUAL then allows any value.
        if inexact.is_exact or any(error.any() for error in others):
            return EQUAL.of(attrs, inexact)
        errors = {k: inexact.errors[k] for k in data}
        nothing = {k: np.zeros(error.shape) for k, error in errors.items()}
        moved, still = (reference(attrs, _with(inexact.operands, e)) for e in (errors, nothing))
        return tuple(map(_apart, moved, still))

    return of


def _apart(moved: Array, still: Array) -> Array:
    # Values that the op itself adds (the value of a pad, which may be infinite) are in both, so
    # they cancel.
    cancelled = np.zeros(moved.shape)
    return np.subtract(moved, still, out=cancelled, where=moved != still, dtype=np.float64)


def _with(operands: Operands, inputs: Mapping[int, Array]) -> Operands:
    """The operands with some inputs replaced."""
    every = tuple(inputs.get(k, array) for k, array in enumerate(operands.inputs))
    return dataclasses.replace(operands, inputs=every)


def moves(reference: Reference, data: Sequence[int] | None = None) -> Bound:
    """The bound of ops that only move elements. The errors of the inputs ``data`` (by default of
    all inputs) move with the elements."""
    return Bound("equal", _moved(reference, data))


def _magnitudes(arrays: Sequence[Array]) -> Arrays:
    """Magnitudes of finite numbers, and 0 for all other values, which are never rounded."""
    # In float64 first, because int8 does not have the magnitude of -128.
    return tuple(np.abs(np.where(np.isfinite(a), a, 0).astype(np.float64)) for a in arrays)


def linear(reference: Reference, roundings: Callable[[Any, Operands], int], rule: str) -> Bound:
    """The bound of ops that are linear in each float input, with weights that are never negative.

    Each element of the output goes through at most ``roundings`` roundings, including the
    reference's own and the last one. If a sum of magnitudes is infinite, any value is allowed.
    """

    def of(attrs: Any, inexact: Inexact) -> Arrays:
        if hasattr(attrs, "activation"):
            # A clamp never increases a distance, but it would hide the magnitude of a sum.
            attrs = dataclasses.replace(attrs, activation=Activation.NONE)

        plain = _magnitudes(inexact.operands.inputs)
        count = roundings(attrs, inexact.operands)

        def summed(inputs: Arrays) -> Array:
            (total, *_) = reference(attrs, dataclasses.replace(inexact.operands, inputs=inputs))
            return total.astype(np.float64) * (1 + gamma(count))  # the total may be rounded, too

        if inexact.is_exact:
            size = summed(plain)
            return (gamma(count) * size + count * LEAST,)
        size = summed(tuple(a + e for a, e in zip(plain, inexact.errors, strict=True)))
        grown = np.maximum(size - summed(plain), 0) + gamma(count) * size  # both may be rounded
        return (grown + gamma(count) * size + count * LEAST,)

    return of_floats(rule, of)


def products(
    reference: Reference, terms: Callable[[Any, Operands], int], *, is_wide: bool = True
) -> Bound:
    """The bound of sums of ``terms`` products and a bias. Every product and sum is rounded. The
    reference rounds only the result, or, without ``is_wide``, everything."""

    def roundings(attrs: Any, operands: Operands) -> int:
        each = terms(attrs, operands) + 1
        return each + 1 if is_wide else 2 * each

    rule = f"gamma({'n + 2' if is_wide else '2 n + 2'}) * sum|x w| of n products"
    return linear(reference, roundings, rule)


def sums(reference: Reference, terms: Callable[[Any, Operands], int]) -> Bound:
    """The bound of sums and means of ``terms`` numbers. The reference also adds in float32."""

    def roundings(attrs: Any, operands: Operands) -> int:
        return 2 * terms(attrs, operands)

    return linear(reference, roundings, "gamma(2 n) * sum|x| of n terms")


def _inexactly(grown: Array, expected: Array) -> Array:
    """Errors after one rounding. If the inputs differ, both results are rounded."""
    added = 2 * UNIT * (np.abs(expected) + grown) + LEAST
    return np.where(grown > 0, grown + added, 0.0)


def elementwise(grown: Callable[[Any, Inexact], Array], roundings: int = 1) -> Bound:
    """The bound of elementwise arithmetic, whose every operation IEEE 754 defines: equal inputs
    give equal results. ``grown`` gives the errors of the results without the ``roundings``."""

    def of(attrs: Any, inexact: Inexact) -> Arrays:
        if inexact.is_exact:
            return EQUAL.of(attrs, inexact)
        limit = np.broadcast_to(grown(attrs, inexact), inexact.expected[0].shape)
        limit = np.where(np.isnan(limit), np.inf, limit)  # an infinite error times 0
        for _ in range(roundings):
            limit = _inexactly(limit, inexact.expected[0])
        return (limit,)

    return dataclasses.replace(of_floats("equal", of), roundings=roundings)


def has_infinity(operands: Operands) -> Array:
    """A mask of the elements of an elementwise op's output that have an infinite operand."""
    return np.asarray(functools.reduce(np.logical_or, map(np.isinf, operands.inputs)))


def sums_of_two() -> Bound:
    """The bound of sums or differences of two numbers. If a result is not known, the implementation
    may have added a later summand to one operand first. The rounding of that sum is relative to the
    operands, which may cancel each other. An infinite operand decides the sum: the other operand,
    if finite, has no influence.
    """
    plain = elementwise(sum_of_errors)

    def of(attrs: Any, inexact: Inexact) -> Arrays:
        (limit,) = plain.of(attrs, inexact)
        if inexact.expected[0].dtype.kind != "f":
            return (limit,)
        is_known = np.isinf(inexact.expected[0]) & np.isfinite(sum_of_errors(attrs, inexact))
        limit = np.where(is_known & has_infinity(inexact.operands), 0.0, limit)
        if inexact.found[0] is not None:
            return (limit,)
        # The rounding of a sum that is not known is relative to its operands.
        size = functools.reduce(np.add, _magnitudes(inexact.operands.inputs))
        return (limit + UNIT * size,)

    return dataclasses.replace(plain, of=of)


def lipschitz(constant: Callable[[Any], float], roundings: int = 1) -> Bound:
    """The bound of functions of one number that change by at most ``constant(attrs)`` times the
    change of their argument."""
    return elementwise(
        lambda attrs, inexact: constant(attrs) * inexact.errors[0], roundings=roundings
    )


def balls(formula: Callable[[Any, Inexact], tuple[Ball, ...]]) -> Bound:
    """The bound of formulas of several steps: running error analysis of ``formula``, which returns
    as many results as the reference."""

    def of(attrs: Any, inexact: Inexact) -> Arrays:
        pairs = zip(formula(attrs, inexact), inexact.expected, strict=True)
        return tuple(ball.error + np.abs(ball.value - array) for ball, array in pairs)

    return of_floats("each step's rounding and ulps, followed to the end", of)


def inputs(inexact: Inexact) -> tuple[Ball, ...]:
    """A node's inputs with their errors."""
    pairs = zip(inexact.operands.inputs, inexact.errors, strict=True)
    return tuple(Ball.of(array, error) for array, error in pairs)


def function(real: Callable[[Any, Array], Array], ulps: int) -> Bound:
    """The bound of a monotonic function of one number, computed within ``ulps`` ulps of the
    correctly rounded result."""

    def grown(attrs: Any, inexact: Inexact, expected: Array) -> Array:
        data, error = inexact.operands.inputs[0], inexact.errors[0]
        # The next float32 outwards, because the end itself may have been rounded inwards.
        ends = (outward(data + sign * error, sign) for sign in (-1, 1))
        return np.asarray(np.maximum(*(np.abs(real(attrs, end) - expected) for end in ends)))

    return within_ulps(ulps, grown)


def within_ulps(ulps: int, grown: Callable[[Any, Inexact, Array], Array]) -> Bound:
    """The bound of functions computed within ``ulps`` ulps of the correctly rounded result.
    ``grown(attrs, inexact, expected)`` returns the errors of unrounded results that the operands'
    errors cause."""

    def of(attrs: Any, inexact: Inexact) -> Arrays:
        expected = inexact.expected[0].astype(np.float64)
        if inexact.is_exact:
            return (ulps * spacing(expected),)
        limit = grown(attrs, inexact, expected)
        return (limit + (ulps + 1) * spacing(np.abs(expected) + limit),)

    return of_floats(f"{ulps} ulp" if ulps else "equal", of)


def monotonic(reference: Reference) -> Bound:
    """The bound of functions of each element of the first input that never decrease. If their
    inputs are equal, so are their results."""

    def of(attrs: Any, inexact: Inexact) -> Arrays:
        error, *others = inexact.errors
        if inexact.is_exact or any(other.any() for other in others):
            return EQUAL.of(attrs, inexact)
        data, (expected,) = inexact.operands.inputs[0], inexact.expected
        # A function that never decreases is farthest away at an end of the interval of its
        # argument.
        ends = ({0: _moved_outward(data, sign * error)} for sign in (-1, 1))
        values = (reference(attrs, _with(inexact.operands, end))[0] for end in ends)
        apart = (np.abs(array.astype(np.float64) - expected.astype(np.float64)) for array in values)
        return (np.where(error > 0, np.maximum(*apart), 0.0),)

    return Bound("equal", of)


def _moved_outward(data: Array, error: Array) -> Array:
    """The data with errors of one sign, in its dtype."""
    # An unlimited error reaches any value, from an infinity of the other sign, too.
    moved = np.where(np.isinf(error), error, data.astype(np.float64) + np.nan_to_num(error))
    if data.dtype.kind == "f":
        return np.where(error < 0, outward(moved, -1), outward(moved, 1))
    limits = np.iinfo(data.dtype)
    return np.clip(moved, limits.min, limits.max).astype(data.dtype)


def wave(ulps: int) -> Bound:
    """The bound of sine and cosine, computed within ``ulps`` ulps of the correctly rounded result.
    They change by at most the change of their argument, and by at most 2."""

    # Both functions are within [-1, 1], and their slopes, too.
    return within_ulps(ulps, lambda _attrs, inexact, _expected: np.minimum(inexact.errors[0], 2))


def outward(values: Array, sign: int) -> Array:
    """The adjacent float32 numbers in the direction of ``sign``."""
    return np.nextafter(values.astype(np.float32), np.float32(sign * np.inf))


def sum_of_errors(_attrs: Any, inexact: Inexact) -> Array:
    """The error of a sum or difference of both inputs."""
    left, right = inexact.errors
    return np.asarray(left + right)


def greatest_error(_attrs: Any, inexact: Inexact) -> Array:
    """The error of the greater or lesser of both inputs."""
    return np.asarray(np.maximum(*inexact.errors))


def error_of_product(_attrs: Any, inexact: Inexact) -> Array:
    """The error of a product of both inputs."""
    (x, y), (left, right) = _magnitudes(inexact.operands.inputs), inexact.errors
    # (x + left) (y + right) - x y, for magnitudes.
    return np.asarray(x * right + y * left + left * right)


def error_of_quotient(_attrs: Any, inexact: Inexact) -> Array:
    """The error of a quotient of both inputs: unlimited if the divisor may be 0."""
    (x, y), (left, right) = _magnitudes(inexact.operands.inputs), inexact.errors
    # A divisor whose interval contains 0 divides by 0 here: any quotient is possible.
    grown = (left + x / y * right) / np.maximum(y - right, 0)
    return np.where((left > 0) | (right > 0), grown, 0)


def error_of_square(_attrs: Any, inexact: Inexact) -> Array:
    """The error of the squared difference of both inputs."""
    x, y = (array.astype(np.float64) for array in inexact.operands.inputs)
    error = inexact.errors[0] + inexact.errors[1]
    # (d + e)**2 - d**2, for the difference d and its error e.
    return np.asarray((2 * np.abs(x - y) + error) * error)
