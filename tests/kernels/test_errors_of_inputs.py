"""Bounds of ops whose inputs are a known distance off: of stored integers, and of floats."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs, RescaleAttrs
from microgen.graph.ops.tables.tables import LookupAttrs

_EVERY = np.arange(-128, 128, dtype=np.int8)
_TABLE = np.rint(100 * np.sin(np.arange(256) / 20)).astype(np.int8)
_INT8 = ArrayType((256,), DType.INT8, Quant((0.5,), (3,)))
_FINE = ArrayType((256,), DType.INT8, Quant((0.25,), (-7,)))
_FLOAT = ArrayType((256,), DType.FLOAT32)


def _bound(
    op: str, attrs: Attrs, arrays: list[Array], errors: list[Array], kinds: list[ArrayType]
) -> tuple[Array, Array]:
    """The op's result and its bound if the first input is ``errors`` off. The last of the kinds is
    the result's."""
    operands = Operands(tuple(arrays), tuple(kinds[:-1]), (kinds[-1],))
    found = registry()[op].reference(attrs, operands)
    given = Inexact(operands, tuple(errors), found, (None,))
    return found[0], registry()[op].bound.of(attrs, given)[0]


@pytest.mark.parametrize(
    ("op", "attrs", "data", "output"),
    [
        ("qnn.requantize", RequantizeAttrs(), _INT8, _FINE),
        ("qnn.dequantize", DequantizeAttrs(), _INT8, _FLOAT),
        ("qnn.quantize", QuantizeAttrs(ties_even=True), _FLOAT, _FINE),
        ("qnn.rescale", RescaleAttrs(0, 0.5, 3, 0.25, -7, Rounding.UPWARD), _INT8, _FINE),
    ],
)
def test_functions_that_never_decrease(
    op: str, attrs: Attrs, data: ArrayType, output: ArrayType
) -> None:
    """Moved data is within the bound, and data that is exact must give equal results."""
    values, error = _EVERY.astype(data.dtype.numpy), np.zeros(256)
    error[:200] = 2
    expected, bound = _bound(op, attrs, [values], [error], [data, output])
    assert (bound[200:] == 0).all()
    for step in (-2, 2):
        moved = np.clip(values + step * (error > 0), -128, 127).astype(data.dtype.numpy)
        found, _ = _bound(op, attrs, [moved], [0 * error], [data, output])
        apart = abs(found.astype(np.float64) - expected)
        assert (apart <= bound).all()
        assert apart.any()


def test_entries_of_tables() -> None:
    kinds = [_INT8, ArrayType((256,), DType.INT8), _INT8]
    arrays, error = [_EVERY, _TABLE], np.ones(256)
    expected, bound = _bound("lookup", LookupAttrs("f"), arrays, [error, 0 * error], kinds)
    apart = np.abs(np.diff(expected.astype(np.float64)))
    np.testing.assert_array_equal(bound[1:-1], np.maximum(apart[1:], apart[:-1]))
    _, bound = _bound("lookup", LookupAttrs("f"), arrays, [9 * error, 0 * error], kinds)
    assert np.isinf(bound).all()


def test_an_unlimited_error_times_zero_is_unlimited() -> None:
    """The other operand, and all of its errors, are 0."""
    arrays = [np.zeros(256, np.float32), np.zeros(256, np.float32)]
    errors, kinds = [np.full(256, np.inf), np.zeros(256)], [_FLOAT] * 3
    _, bound = _bound("multiply", MultiplyAttrs(Activation.UNLIMITED), arrays, errors, kinds)
    assert np.isinf(bound).all()


def test_an_unknown_sum_may_have_been_added_in_another_order() -> None:
    """X + c + d may be x + (c + d), whose error is relative to c and d."""
    arrays = [np.full(256, 1000.0, np.float32), np.full(256, -1000.0, np.float32)]
    kinds, exact = [_FLOAT] * 3, [np.zeros(256)] * 2
    _, bound = _bound("add", AddAttrs(Activation.UNLIMITED), arrays, exact, kinds)
    np.testing.assert_allclose(bound, 2000 * 2.0**-24)
