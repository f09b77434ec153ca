"""power: each element of the left operand to the power of the right one's, with numpy's
broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.balls import spacing
from microgen.graph.ops.base import Inexact, Op, Operands
from microgen.graph.ops.elementwise import broadcast

ULPS = 1  # of floats: arithmetic/float_power.h, plus half for the reference's rounding
_DTYPES = (DType.INT32, DType.INT64, DType.FLOAT32)


@dataclass(frozen=True, slots=True)
class PowerAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, float32, int32 or int64. Powers of integers are
    modulo 2**n; those with negative exponents are truncated, and 0 if the base is 0."""


def check(
    _attrs: PowerAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """float32, int32 or int64 throughout."""
    return broadcast.one_plain(inputs, outputs, _DTYPES)


def reference(_attrs: PowerAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: C99, F.9.4.4, for floats, which are computed in double and rounded."""
    lhs, rhs = operands.inputs
    with np.errstate(all="ignore"):
        if lhs.dtype.kind == "f":
            return (_real(lhs, rhs).astype(np.float32),)
        return (_whole(lhs, rhs).astype(lhs.dtype),)


def _real(lhs: Array, rhs: Array) -> Array:
    """Powers. For the exponent 1/2 of several elements numpy takes the square root, which differs
    for -inf and -0."""
    x, y = lhs.astype(np.float64), rhs.astype(np.float64)
    is_apart = (y == 0.5) & ((x == 0) | (x == -np.inf))
    return np.where(is_apart, np.abs(x), np.power(x, y))


def _whole(lhs: Array, rhs: Array) -> Array:
    """Square and multiply, modulo 2**64. 1 / x is truncated: 0 except for 1 and -1."""
    base, left = lhs.astype(np.int64), np.abs(rhs.astype(np.int64)).view(np.uint64)
    base, left = (np.array(each) for each in np.broadcast_arrays(base, left))
    found = np.ones(base.shape, np.int64)
    for _ in range(64):
        found = np.where(left & np.uint64(1), found * base, found)
        base, left = base * base, left >> np.uint64(1)
    is_kept = (rhs >= 0) | (lhs == 1) | (lhs == -1)
    return np.where(is_kept, found, 0)


def _bound(_attrs: PowerAttrs, given: Inexact) -> tuple[Array, ...]:
    """The greatest distance at the corners of both operands' errors. A base that may be negative
    or 0 has any power."""
    expected = given.expected[0].astype(np.float64)
    if given.is_exact:
        return (ULPS * spacing(expected),)
    (x, y), (left, right) = given.operands.inputs, given.errors
    corners = [_real(x + i * left, y + j * right) for i in (-1, 1) for j in (-1, 1)]
    grown = np.max([np.abs(corner - expected) for corner in corners], axis=0)
    grown = np.where((x > left) & ~np.isnan(grown), grown, np.inf)
    return (grown + (ULPS + 1) * spacing(np.abs(expected) + grown),)


OP = Op(
    "power",
    PowerAttrs,
    broadcast.infer,
    check,
    reference,
    lambda _attrs, _n_inputs: ("power",),
    bound=bounds.of_floats(f"{ULPS} ulp", _bound),
)
