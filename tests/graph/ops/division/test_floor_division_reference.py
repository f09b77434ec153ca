from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from microgen.base.errors import ModelError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from tests.kernels.conformance.litert_models import Model
from tests.kernels.conformance.litert_models import by_reference as by_model
from tests.kernels.conformance.litert_oracle import (
    Case,
    assert_equal,
    by_litert,
    by_reference,
    needs_litert,
)
from tests.kernels.elementwise import broadcasting
from tests.support.tflite_builder import TensorSpec

ATTRS = FloorDivisionAttrs()
OPS = {
    "floor_divide": ("FLOOR_DIV", "FloorDivOptions"),
    "floor_mod": ("FLOOR_MOD", "FloorModOptions"),
}


def _case(op: str, seed: int, dtype: DType) -> Case:
    """A random case, sometimes with zeros among the divisors, and without INT32_MIN / -1, which
    ends LiteRT's process."""
    case = broadcasting.litert_case(
        seed, op, *OPS[op], lambda _: ATTRS, lambda *_: 1.0, has_activation=False, dtype=dtype
    )
    lhs, rhs = case.arrays
    divisor = rhs if seed % 8 == 0 else np.where(rhs == 0, 1, rhs).astype(rhs.dtype)
    if dtype is DType.INT32:
        lhs = np.maximum(lhs, -(2**31) + 1)
    return dataclasses.replace(case, arrays=[lhs, divisor], version=1, constants=[])


@needs_litert
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", [DType.INT32, DType.FLOAT32], ids=lambda dtype: dtype.value)
def test_equals_litert(op: str, dtype: DType) -> None:
    failed = 0
    for seed in range(80):
        case = _case(op, seed, dtype)
        try:
            by_reference(case)
        except StatusError:
            failed += 1
            with pytest.raises(RuntimeError, match="Division by 0"):
                by_litert(case)
        else:
            assert_equal(case)
    assert failed < 20
    assert bool(failed) == ((op, dtype) != ("floor_mod", DType.FLOAT32))


@needs_litert
@pytest.mark.parametrize("op", OPS)
def test_special_floats_equal_litert(op: str) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -3e38, 7.5], np.float32)
    lhs, rhs = (np.ascontiguousarray(a) for a in np.meshgrid(x, x[2:], indexing="ij"))
    kind = ArrayType(lhs.shape, DType.FLOAT32)
    case = Case(op, ATTRS, [kind, kind], [lhs, rhs], None, *OPS[op], output_dtype=DType.FLOAT32)
    np.testing.assert_array_equal(by_reference(case), by_litert(case))


@needs_litert
@pytest.mark.parametrize("op", OPS)
def test_close_quotients_equal_litert(op: str) -> None:
    rng = np.random.default_rng(0)
    small, wide = rng.integers(1, 2**12, 5000), rng.integers(-(2**24), 2**24, 5000)
    near = (small * wide).astype(np.float32).view(np.int32) + rng.integers(-2, 3, 5000)
    arrays = [near.astype(np.int32).view(np.float32), small.astype(np.float32)]
    kind = ArrayType((5000,), DType.FLOAT32)
    case = Case(op, ATTRS, [kind, kind], arrays, None, *OPS[op], output_dtype=DType.FLOAT32)
    np.testing.assert_array_equal(by_reference(case), by_litert(case))


@pytest.mark.parametrize("code", ["FLOOR_DIV", "FLOOR_MOD"])
@pytest.mark.parametrize("dtype", [DType.INT32, DType.FLOAT32], ids=lambda dtype: dtype.value)
def test_constant_divisors_with_zeros_are_refused_unless_the_result_is_nan(
    code: str, dtype: DType
) -> None:
    zero = TensorSpec("zero", (2,), dtype.value, np.array([1, 0], dtype.numpy))
    model = Model(code, [(2,)], [(2,)], [zero], dtype=dtype)
    if (code, dtype) == ("FLOOR_MOD", DType.FLOAT32):
        (found,) = by_model(model)
        assert np.isnan(found).tolist() == [False, True]
        return
    with pytest.raises(ModelError, match='divides by "zero", a constant with zeros'):
        model.load()


def test_other_dtypes_are_refused() -> None:
    kind = ArrayType((2,), DType.INT64)
    sentence = registry()["floor_divide"].check(ATTRS, [kind, kind], [kind])
    assert "all must be of one dtype: int32 or float32" in str(sentence)
    boolean = ArrayType((2,), DType.BOOL)
    assert "the left input is bool" in str(
        registry()["floor_mod"].check(ATTRS, [boolean, boolean], [boolean])
    )


def test_fmod_equals_pythons() -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -3e38, 7.5], np.float32)
    lhs, rhs = (np.ascontiguousarray(a) for a in np.meshgrid(x, x[2:], indexing="ij"))
    kind = ArrayType(lhs.shape, DType.FLOAT32)
    (found,) = registry()["fmod"].reference(ATTRS, Operands((lhs, rhs), (kind, kind), (kind,)))
    for a, b, remainder in zip(lhs.flat, rhs.flat, found.flat, strict=True):
        expected = math.nan if math.isinf(a) else math.fmod(a, b)
        np.testing.assert_array_equal(remainder, np.float32(expected))
        assert math.isnan(expected) or math.copysign(1, remainder) == math.copysign(1, a)
