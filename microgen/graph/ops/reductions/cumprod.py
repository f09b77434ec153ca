"""cumprod: the product of all values up to each one, along one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.graph.ops import bounds
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, Op, Operands
from microgen.graph.ops.reductions.running import RunningAttrs, check, infer, results


@dataclass(frozen=True, slots=True)
class CumprodAttrs(RunningAttrs):
    """Products, which are modulo 2**32 or 2**64 for integers."""


def reference(attrs: CumprodAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: ONNX's specification of CumProd. Values are multiplied one after another."""
    return results(attrs, operands, np.multiply)


def _ball(attrs: CumprodAttrs, given: Inexact) -> tuple[Ball, ...]:
    """The products, one after another, with errors."""
    (x,) = bounds.inputs(given)
    step = -1 if attrs.reverse else 1
    factors = list(Ball(*(np.moveaxis(each, attrs.axis, 0)[::step] for each in (x.value, x.error))))
    found = [Ball.of(np.ones_like(factors[0].value)) if attrs.exclusive else factors[0]]
    for factor in factors[:-1] if attrs.exclusive else factors[1:]:
        found.append(found[-1] * factor)
    value, error = (
        np.moveaxis(np.stack(each[::step]), 0, attrs.axis)
        for each in ([ball.value for ball in found], [ball.error for ball in found])
    )
    return (Ball(value, error),)


def parts(_attrs: CumprodAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("cumprod",)


OP = Op("cumprod", CumprodAttrs, infer, check, reference, parts, bound=bounds.balls(_ball))
