from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import StatusError
from microgen.graph.ops.division.divide import OP, DivideAttrs
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    Case,
    activation_type,
    assert_equal,
    by_litert,
    by_reference,
    needs_litert,
)
from tests.kernels.elementwise import broadcasting


def make(activation: Activation) -> DivideAttrs:
    return DivideAttrs(activation, shifts_wrap=True)


NONE = make(Activation.NONE)


def random_case(seed: int) -> Case:
    """A case whose output scale is usual, or up to 2**12 times off."""
    case = broadcasting.litert_case(
        seed, OP.name, "DIV", "DivOptions", make, lambda lhs, rhs: lhs.scale / rhs.scale / 64
    )
    lhs, rhs = case.arrays
    zero = case.types[1].zero_point
    return replace(case, arrays=[lhs, np.where(rhs == zero, zero ^ 1, rhs).astype(np.int8)])


def plain_case(seed: int, dtype: DType) -> Case:
    case = broadcasting.litert_case(
        seed, OP.name, "DIV", "DivOptions", make, lambda lhs, _rhs: lhs.scale, dtype=dtype
    )
    return replace(case, version=1)


def int16_case(seed: int) -> Case:
    """A case whose output scale is usual, or up to 2**12 times off."""
    case = broadcasting.litert_case(
        seed,
        *(OP.name, "DIV", "DivOptions", make, lambda lhs, rhs: lhs.scale / rhs.scale / 2),
        dtype=DType.INT16,
    )
    lhs, rhs = case.arrays
    return replace(case, arrays=[lhs, np.where(rhs == 0, 1, rhs).astype(np.int16)])


def int16_equal_case(ratio: float, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Case:
    """Tensors of equal elements, whose quotients are scaled by ``ratio``, with the extremes."""
    rng = np.random.default_rng(int(abs(np.log2(ratio))))
    extremes = np.array([-(2**15), 2**15 - 1, -1, 1], np.int16)
    values = [rng.integers(-(2**15), 2**15, 996).astype(np.int16) for _ in range(2)]
    lhs = np.concatenate([np.repeat(extremes, 4), values[0]])
    rhs = np.concatenate([np.tile(extremes, 4), np.where(values[1] == 0, 3, values[1])])
    types = [
        ArrayType(shape, DType.INT16, Quant((scale,), (0,)))
        for shape, scale in zip(shapes, (0.7, 0.9), strict=True)
    ]
    arrays = [a.astype(np.int16).reshape(s) for a, s in zip((lhs, rhs), shapes, strict=True)]
    output = Quant((0.7 / 0.9 / ratio,), (0,))
    names = ("DIV", "DivOptions")
    return Case(OP.name, NONE, types, arrays, output, *names, {}, output_dtype=DType.INT16)


def pairs_case(scales: tuple[float, float, float], zero_points: tuple[int, int, int]) -> Case:
    """A case of every value with every divisor except zero."""
    case = broadcasting.all_pairs(OP.name, "DIV", "DivOptions", NONE, scales, zero_points)
    lhs, rhs = case.arrays
    types = [case.types[0], activation_type((255,), scales[1], zero_points[1])]
    return replace(case, types=types, arrays=[lhs, rhs[rhs != zero_points[1]]])


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("ratio", [2.0**-25, 1e-4, 0.9, 2.1, 63.0, 128.0, 9000.0, 2.0**23 - 2])
def test_every_pair_of_values(ratio: float) -> None:
    for zero_points in ((-128, 127, 0), (127, -128, -128), (3, -5, 7)):
        assert_equal(pairs_case((0.7, 1.0, 0.7 / ratio), zero_points))


@needs_litert
@pytest.mark.parametrize("block", range(3))
def test_int16_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(int16_case(seed))


@needs_litert
@pytest.mark.parametrize("ratio", [2.0**-18, 1e-4, 1.0, 2.0**15, 1e5, 2.0**23 - 2])
def test_int16_of_equal_shapes_equals_litert(ratio: float) -> None:
    for shapes in (((1012,), (1012,)), ((4, 253), (1, 4, 253))):
        assert_equal(int16_equal_case(ratio, shapes))


@pytest.mark.parametrize(("ratio", "words"), [(2.0**-19, "2**-18 or more and"), (2.0**24, "2**23")])
def test_int16_scales_too_far_apart(ratio: float, words: str) -> None:
    assert words in int16_said(ratio, shifts_wrap=True)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(2.0**13, "by more than 31 bits"), (2.0**14, "None"), (2.0**15, "by less than 0 bits")],
)
def test_int16_shifts_that_would_be_undefined(ratio: float, words: str) -> None:
    assert words in int16_said(ratio, shifts_wrap=False)


def int16_said(ratio: float, shifts_wrap: bool) -> str:
    data, output = (ArrayType((3,), DType.INT16, Quant((s,), (0,))) for s in (1.0, 1 / ratio))
    return str(OP.check(DivideAttrs(Activation.NONE, shifts_wrap), [data, data], [output]))


def test_quotients_are_near_where_no_shift_wraps() -> None:
    case = pairs_case((1.0, 1.0, 2.0**-6), (3, -5, 7))
    plain = replace(case, attrs=DivideAttrs(Activation.NONE, shifts_wrap=False))
    lhs, rhs = (array.astype(float) for array in case.arrays)
    real = np.clip((lhs - 3) / (rhs + 5) * 64 + 7, -128, 127)
    assert np.abs(by_reference(plain) - real).max() <= 0.51
    np.testing.assert_array_equal(by_reference(plain), by_reference(case))


@needs_litert
def test_a_division_by_zero_fails_as_in_litert() -> None:
    case = random_case(1)
    lhs, rhs = (np.array(array) for array in case.arrays)
    rhs.flat[-1] = case.types[1].zero_point
    case = replace(case, arrays=[lhs, rhs])
    with pytest.raises(StatusError, match=r"has elements that mean 0 \(stored as"):
        by_reference(case)
    with pytest.raises(RuntimeError, match=r"data.i. != zero_point was not true"):
        by_litert(case)


@needs_litert
def test_floats_equal_litert_by_zero_too() -> None:
    for seed in range(150):
        assert_equal(plain_case(seed, DType.FLOAT32))


@needs_litert
def test_int32_equals_litert() -> None:
    for seed in range(150):
        case = plain_case(seed, DType.INT32)
        rhs = np.where(case.arrays[1] == 0, 1, case.arrays[1]).astype(np.int32)
        assert_equal(replace(case, arrays=[case.arrays[0], rhs]))


@needs_litert
def test_the_quotient_that_exceeds_int32_equals_litert() -> None:
    kind = ArrayType((2,), DType.INT32)
    arrays = [np.array([-(2**31)] * 2, np.int32), np.array([-1, 1], np.int32)]
    names = ("DIV", "DivOptions")
    for activation in FUSED:
        fused = {"fusedActivationFunction": FUSED[activation]}
        attrs = make(activation)
        assert_equal(
            Case(OP.name, attrs, [kind] * 2, arrays, None, *names, fused, output_dtype=DType.INT32)
        )


def test_refusals() -> None:
    broadcasting.check_refusals(OP.name, NONE)


def said(ratio: float, shifts_wrap: bool) -> str:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 1 / ratio, 0)
    attrs = DivideAttrs(Activation.NONE, shifts_wrap)
    return str(OP.check(attrs, [data, data], [output]))


@pytest.mark.parametrize("ratio", [2.0**-26, 2.0**23, 1e30])
def test_scales_too_far_apart(ratio: float) -> None:
    assert "must be 2**-25 or more and under 2**23" in said(ratio, shifts_wrap=True)


def test_shifts_that_would_be_undefined_are_refused_unless_they_wrap() -> None:
    assert said(63.9, shifts_wrap=True) == "None"
    assert "under 2**6; TFLite would shift by more than 31 bits" in said(63.9, shifts_wrap=False)
    assert said(64.0, shifts_wrap=False) == "None"
