"""round: the nearest integer to each value, the even one of two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops import bounds
from microgen.graph.ops.unary import float_function


@dataclass(frozen=True, slots=True)
class RoundAttrs(Attrs):
    """Input: float32 data of any rank."""


def _real(_attrs: Attrs, x: Array) -> Array:
    """Source: TFLite reference/round.h, RoundToNearest."""
    return np.asarray(np.rint(x))


OP = float_function.define("round", RoundAttrs, _real, bounds.function(_real, 0))
