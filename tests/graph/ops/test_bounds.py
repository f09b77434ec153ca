"""Bounds of values that an infinite error, or an infinite value, reaches."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.quantization.conversions import QUANTIZE, QuantizeAttrs


def test_an_unlimited_error_of_an_infinity_allows_every_integer() -> None:
    data = np.array([np.inf, 1.0, 1.0], np.float32)
    error = np.array([np.inf, np.inf, 0.0])
    stored = ArrayType((3,), DType.INT8, Quant((1.0,), (0,), None))
    operands = Operands((data,), (ArrayType((3,), DType.FLOAT32),), (stored,))
    expected = QUANTIZE.reference(QuantizeAttrs(), operands)
    (bound,) = QUANTIZE.bound.of(QuantizeAttrs(), Inexact(operands, (error,), expected, (None,)))
    np.testing.assert_array_equal(bound, [255, 129, 0])


def test_infinite_pads_are_exact() -> None:
    attrs = PadAttrs(((1, 1),), -np.inf)
    data: Array = np.array([1.0, 2.0], np.float32)
    kinds = (ArrayType((2,), DType.FLOAT32),), (ArrayType((4,), DType.FLOAT32),)
    op = registry()["nn.pad"]
    operands = Operands((data,), *kinds)
    expected = op.reference(attrs, operands)
    errors = (np.array([0.5, np.inf]),)
    (bound,) = op.bound.of(attrs, Inexact(operands, errors, expected, (None,)))
    np.testing.assert_array_equal(bound, [0, 0.5, np.inf, 0])
