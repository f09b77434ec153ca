"""Arithmetic, extremes and comparisons of plain integers of every dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, Attrs, DType
from microgen.graph.ops import registry
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from tests.kernels.comparisons.comparisons import OPERATORS
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.plain_integers import cases

NONE = Activation.NONE


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC: Mapping[str, tuple[Attrs, Callable[[int, int], int]]] = {
    "add": (AddAttrs(NONE), lambda a, b: a + b),
    "subtract": (SubtractAttrs(NONE), lambda a, b: a - b),
    "multiply": (MultiplyAttrs(NONE), lambda a, b: a * b),
    "divide": (DivideAttrs(NONE, shifts_wrap=False), _truncated),
    "floor_mod": (FloorDivisionAttrs(), lambda a, b: a % b),
    "fmod": (FloorDivisionAttrs(), lambda a, b: a - _truncated(a, b) * b),
    "maximum": (MaximumAttrs(), max),
    "minimum": (MinimumAttrs(), min),
}


def _cases(count: int) -> list[c.Case]:
    found = [case for op, (attrs, _) in ARITHMETIC.items() for case in cases(op, attrs, count)]
    for op in OPERATORS:
        found += cases(op, ComparisonAttrs(), max(1, count // 2), output=DType.BOOL)
    return found


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(_cases(8), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(_cases(1), tmp_path)


def _wrapped(value: int, dtype: np.dtype[Any]) -> int:
    bits = 8 * dtype.itemsize
    value %= 2**bits
    return value - 2**bits if dtype.kind == "i" and value >= 2 ** (bits - 1) else value


@pytest.mark.parametrize("op", ARITHMETIC)
def test_the_reference_equals_pythons_integers_modulo_the_dtype(op: str) -> None:
    attrs, function = ARITHMETIC[op]
    failed = 0
    for case in cases(op, attrs, 12):
        lhs, rhs = np.broadcast_arrays(*(tensor.array for tensor in case.inputs))
        if case.outcome.status:
            assert 0 in rhs
            failed += 1
            continue
        wide = map(function, lhs.reshape(-1).tolist(), rhs.reshape(-1).tolist())
        expected = [_wrapped(value, lhs.dtype) for value in wide]
        if (op, case.output_dtype) == ("divide", DType.INT32):  # saturates, as in TFLite
            ends = (lhs == -(2**31)) & (rhs == -1)
            expected = np.where(ends.reshape(-1), 2**31 - 1, expected).tolist()
        assert case.expected.reshape(-1).tolist() == expected
    assert failed < 20


def test_activations_are_refused_except_for_int32() -> None:
    for dtype in INTEGERS:
        kind = ArrayType((2,), dtype)
        sentence = registry()["add"].check(AddAttrs(Activation.RELU), [kind, kind], [kind])
        assert (sentence is None) is (dtype is DType.INT32)


def test_operands_of_two_dtypes_are_refused() -> None:
    kinds = [ArrayType((2,), dtype) for dtype in (DType.UINT16, DType.INT16)]
    sentence = registry()["multiply"].check(MultiplyAttrs(NONE), kinds, kinds[:1])
    assert "the right input is int16[2]; all must be of one dtype" in str(sentence)
