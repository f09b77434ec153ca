"""Running sums and products along one axis: each result is computed from all values up to its
place."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.balls import Ball
from microgen.graph.ops.base import Inexact, OpDefinition, Operands, Shapes, expect_axis, one_input
from microgen.graph.ops.constraints import activations_constraint

DTYPES = (DType.INT32, DType.INT64, DType.FLOAT32)


@dataclass(frozen=True, slots=True)
class RunningAttrs(Attrs):
    """Input: int32 or int64 data, computed modulo 2**32 or 2**64, or float32 data.

    ``axis`` is counted from the front. With ``exclusive`` each result lacks the value at its own
    place. With ``reverse`` the results begin at the axis's end.
    """

    axis: int
    exclusive: bool = False
    reverse: bool = False


def infer(attrs: RunningAttrs, inputs: Types) -> Shapes:
    """The input's shape."""
    data = one_input("a running sum or product", inputs)
    expect_axis(attrs.axis, data)
    return (data.shape,)


def check(_attrs: RunningAttrs, inputs: Types, outputs: Types) -> str | None:
    """int32, int64 or float32 throughout."""
    return activations_constraint(inputs[0], outputs[0], DTYPES)


def results(function: np.ufunc, attrs: RunningAttrs, operands: Operands) -> Arrays:
    """The results of ``function``, applied to one value after another, beginning with its
    identity. Source: TFLite reference/cumsum.h, CumSum; ONNX's specification of CumProd."""
    data, axis = operands.inputs[0], attrs.axis
    forward = np.flip(data, axis) if attrs.reverse else data
    accumulate: Any = function.accumulate
    with np.errstate(all="ignore"):
        # With the dtype, integers wrap as in C. By default numpy would widen int32.
        totals = accumulate(forward, axis, data.dtype)
    if attrs.exclusive:
        first = np.full_like(np.take(totals, [0], axis), function.identity)
        others = np.take(totals, range(data.shape[axis] - 1), axis)
        totals = np.concatenate([first, others], axis)
    return (np.ascontiguousarray(np.flip(totals, axis) if attrs.reverse else totals),)


class CumsumAttrs(RunningAttrs):
    """cumsum: the sum of all values up to each one, along one axis.

    Sums, which are modulo 2**32 or 2**64 for integers.
    """


_cumsum_reference = functools.partial(results, np.add)


def _cumsum_terms(attrs: CumsumAttrs, operands: Operands) -> int:
    return operands.input_types[0].shape[attrs.axis]


CUMSUM = OpDefinition(
    "cumsum",
    CumsumAttrs,
    infer,
    check,
    _cumsum_reference,
    bound=bounds.sums(_cumsum_reference, _cumsum_terms),
)


class CumprodAttrs(RunningAttrs):
    """cumprod: the product of all values up to each one, along one axis.

    Products, which are modulo 2**32 or 2**64 for integers.
    """


def _cumprod_ball(attrs: CumprodAttrs, inexact: Inexact) -> tuple[Ball, ...]:
    """The products, one after another, with errors."""
    (x,) = bounds.inputs(inexact)
    step = -1 if attrs.reverse else 1
    factors = list(x.moved(lambda values: np.moveaxis(values, attrs.axis, 0)[::step]))
    products = [Ball.of(np.ones_like(factors[0].value)) if attrs.exclusive else factors[0]]
    for factor in factors[:-1] if attrs.exclusive else factors[1:]:
        products.append(products[-1] * factor)
    rows = Ball.joined(products[::step], np.stack)
    return (rows.moved(lambda values: np.moveaxis(values, 0, attrs.axis)),)


CUMPROD = OpDefinition(
    "cumprod",
    CumprodAttrs,
    infer,
    check,
    functools.partial(results, np.multiply),
    bound=bounds.balls(_cumprod_ball),
)


OPS = (CUMSUM, CUMPROD)
