"""atan2: the angle of each point with the x axis, with numpy's broadcasting."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Inexact, OpDefinition, Operands
from microgen.graph.ops.elementwise import broadcast

ULPS = 4  # arithmetic/float_inverse_angles.h, plus half for the reference's rounding


class Atan2Attrs(Attrs):
    """Inputs: y and x, float32 tensors of broadcastable shapes. Output: angles from -pi to pi."""


def check(_attrs: Atan2Attrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout."""
    return broadcast.one_plain(inputs, outputs, (DType.FLOAT32,))


def reference(_attrs: Atan2Attrs, operands: Operands) -> Arrays:
    """Source: C99, F.9.1.4, in double and rounded."""
    y, x = (operand.astype(np.float64) for operand in operands.inputs)
    return (np.asarray(np.arctan2(y, x), np.float32),)


def _grown(_attrs: Atan2Attrs, inexact: Inexact, expected: Array) -> Array:
    """The greatest angle at which a point within the operands' errors is seen, and a whole turn if
    it may cross the negative x axis or the origin."""
    (y, x), (own, other) = inexact.operands.inputs, inexact.errors
    y, x = y.astype(np.float64), x.astype(np.float64)
    distance, error = np.hypot(x, y), np.hypot(own, other)
    with np.errstate(all="ignore"):
        seen = np.arcsin(np.minimum(error / distance, 1))
    turns = (x - other <= 0) & (np.abs(y) <= own)
    is_near = np.broadcast_to(turns | (error >= distance), expected.shape) & (error > 0)
    return np.where(is_near, 2 * np.pi, np.where(error > 0, seen, 0))


OP = OpDefinition(
    "atan2",
    Atan2Attrs,
    broadcast.infer,
    check,
    reference,
    bound=bounds.within_ulps(ULPS, _grown),
)
