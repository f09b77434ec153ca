"""Quotients of plain numbers that are rounded, and their remainders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Bound, Inexact, OpDefinition, Operands, StatusError
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.elementwise import broadcast

_INVALID_ARG = 0x0803  # kTvmErrorFunctionCallInvalidArg

Function = Callable[[Array, Array], Array]  # of two arrays of one dtype


class FloorDivisionAttrs(Attrs):
    """Inputs: two tensors of broadcastable shapes, float32 or plain integers, for floor_divide
    int32."""


def _op(
    name: str,
    about: str,
    function: Function,
    bound: Bound,
    failing: Sequence[DType],
    accepted: Sequence[DType] = (DType.FLOAT32, *INTEGERS),
) -> OpDefinition:
    """The definition of one of the operations, which fails if a divisor of one of the dtypes
    ``failing`` is zero."""

    def check(_attrs: FloorDivisionAttrs, inputs: Types, outputs: Types) -> str | None:
        """One dtype throughout."""
        return broadcast.one_plain(inputs, outputs, accepted)

    def reference(_attrs: FloorDivisionAttrs, operands: Operands) -> Arrays:
        # Source: TFLite floor_div.cc and floor_mod.cc. StatusError if a divisor is zero, except for
        # floats of remainders, whose result is then NaN.
        lhs, rhs = operands.inputs
        if operands.input_types[1].dtype in failing:
            _expect_no_zeros(rhs, operands.input_types[1])
        with np.errstate(all="ignore"):
            return (np.asarray(function(lhs, rhs)).astype(lhs.dtype),)

    about = f"{about}, elementwise, with numpy's broadcasting"
    attrs = FloorDivisionAttrs
    return OpDefinition(name, attrs, broadcast.infer, check, reference, bound=bound, about=about)


def _expect_no_zeros(divisor: Array, kind: ArrayType) -> None:
    wrong = divisor == 0
    if wrong.any():
        raise StatusError(
            f"the divisor {kind} has zeros",
            _INVALID_ARG,
            position=1,
            among=divisor,
            wrong=wrong,
            allowed="other than 0",
        )


def _quotient(lhs: Array, rhs: Array) -> Array:
    """The floats' quotients are computed in double, whose error is too small to reach the next
    integer or the next float."""
    if lhs.dtype.kind == "f":
        return np.asarray(np.floor(lhs.astype(np.float64) / rhs.astype(np.float64)))
    exact = lhs.astype(np.int64) // rhs
    # Only -2**31 over -1 exceeds int32.
    return np.asarray(np.minimum(exact, np.iinfo(np.int32).max))


def _quotient_grown(attrs: FloorDivisionAttrs, inexact: Inexact) -> Array:
    """The error of a quotient, and 1 if it may be on the other side of an integer."""
    error = bounds.error_of_quotient(attrs, inexact)
    return np.where(error > 0, error + 1, 0)


def _floor_mod_remainder(lhs: Array, rhs: Array) -> Array:
    """The remainder, which is 0 or has the divisor's sign.

    Source: TFLite reference/floor_mod.h, FloorMod.
    """
    remainder = np.fmod(lhs, rhs)
    is_other_sign = (remainder != 0) & ((rhs < 0) != (remainder < 0))
    return np.asarray(np.where(is_other_sign, remainder + rhs, remainder))


def _remainder_grown(_attrs: FloorDivisionAttrs, inexact: Inexact) -> Array:
    """Any value from 0 to the divisor, if an operand is inexact."""
    divisor, (left, right) = np.abs(inexact.operands.inputs[1].astype(np.float64)), inexact.errors
    return np.where((left > 0) | (right > 0), divisor + right, 0)


def _fmod_remainder(lhs: Array, rhs: Array) -> Array:
    """The remainder, which is 0 or has the dividend's sign."""
    # Source: C99, 7.12.10.1 and 6.5.5.
    return np.asarray(np.fmod(lhs, rhs))


_QUOTIENTS, _REMAINDERS = bounds.elementwise(_quotient_grown), bounds.elementwise(_remainder_grown)
_DOWN, _TO_ZERO = (
    "remainders of quotients rounded down",
    "remainders of quotients rounded towards 0",
)
_PAIR = (DType.INT32, DType.FLOAT32)

OPS = (
    _op("floor_divide", "quotients rounded down", _quotient, _QUOTIENTS, _PAIR, _PAIR),
    _op("floor_mod", _DOWN, _floor_mod_remainder, _REMAINDERS, INTEGERS),
    _op("fmod", _TO_ZERO, _fmod_remainder, _REMAINDERS, INTEGERS),
)
