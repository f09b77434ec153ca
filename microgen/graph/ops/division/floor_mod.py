"""floor_mod: remainders of quotients rounded down, elementwise, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Inexact
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs, op


def _remainder(lhs: Array, rhs: Array) -> Array:
    """The remainder, which is 0 or has the divisor's sign.

    Source: TFLite reference/floor_mod.h, FloorMod.
    """
    remainder = np.fmod(lhs, rhs)
    is_other_sign = (remainder != 0) & ((rhs < 0) != (remainder < 0))
    return np.asarray(np.where(is_other_sign, remainder + rhs, remainder))


def grown(_attrs: FloorDivisionAttrs, given: Inexact) -> Array:
    """Any value from 0 to the divisor, if an operand is inexact."""
    divisor, (left, right) = np.abs(given.operands.inputs[1].astype(np.float64)), given.errors
    return np.where((left > 0) | (right > 0), divisor + right, 0)


OP = op("floor_mod", _remainder, bounds.elementwise(grown), INTEGERS)
