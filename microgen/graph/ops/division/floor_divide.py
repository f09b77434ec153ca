"""floor_divide: quotients rounded down, elementwise, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Inexact
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs, op

_DTYPES = (DType.INT32, DType.FLOAT32)


def _quotient(lhs: Array, rhs: Array) -> Array:
    """The floats' quotients are computed in double, whose error is too small to reach the next
    integer or the next float."""
    if lhs.dtype.kind == "f":
        return np.asarray(np.floor(lhs.astype(np.float64) / rhs.astype(np.float64)))
    exact = lhs.astype(np.int64) // rhs
    return np.asarray(np.minimum(exact, np.iinfo(np.int32).max))


def _grown(attrs: FloorDivisionAttrs, given: Inexact) -> Array:
    """The error of a quotient, and 1 if it may be on the other side of an integer."""
    error = bounds.error_of_quotient(attrs, given)
    return np.where(error > 0, error + 1, 0)


OP = op("floor_divide", _quotient, bounds.elementwise(_grown), _DTYPES, _DTYPES)
