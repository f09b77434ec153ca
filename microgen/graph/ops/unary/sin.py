"""sin: the sine of each value, which is an angle in radians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs
from microgen.graph.ops import bounds
from microgen.graph.ops.unary import float_function, unary

ULPS = 1  # crt/include/microgen/arithmetic/float_angles.h, plus half for the reference's rounding


@dataclass(frozen=True, slots=True)
class SinAttrs(Attrs):
    """Input: float32 data of any rank."""


def _real(_attrs: Attrs, x: Array) -> Array:
    """Source: TFLite elementwise.cc, SinEval."""
    return unary.rounded(np.sin, x)


OP = float_function.define("sin", SinAttrs, _real, bounds.wave(ULPS))
