"""ceil: the least integer that is not below each value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops import bounds
from microgen.graph.ops.unary import float_function


@dataclass(frozen=True, slots=True)
class CeilAttrs(Attrs):
    """Input: float32 data of any rank."""


def _real(_attrs: Attrs, x: Array) -> Array:
    """Source: TFLite ceil.cc, Eval."""
    return np.asarray(np.ceil(x))


OP = float_function.define("ceil", CeilAttrs, _real, bounds.function(_real, 0))
