"""fmod: remainders of quotients rounded towards 0, elementwise, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import bounds
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.division.floor_division import op
from microgen.graph.ops.division.floor_mod import grown


def _remainder(lhs: Array, rhs: Array) -> Array:
    """The remainder, which is 0 or has the dividend's sign. Source: C99, 7.12.10.1 and 6.5.5."""
    return np.asarray(np.fmod(lhs, rhs))


OP = op("fmod", _remainder, bounds.elementwise(grown), INTEGERS)
