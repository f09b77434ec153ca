from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgen.graph.arithmetic import int8
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant

int32 = st.integers(-(2**31), 2**31 - 1)


def tensor(scale: float, zero_point: int = 0) -> ArrayType:
    return ArrayType((1,), DType.INT8, Quant((scale,), (zero_point,)))


def multiply(x: int, multiplier: int, shift: int, rounding: Rounding) -> int:
    values = np.array([x], np.int32)
    return int(int8.multiply_by_quantized_multiplier(values, multiplier, shift, rounding)[0])


@pytest.mark.parametrize(
    ("real", "expected"),
    [
        (0.0, (0, 0)),
        (0.5, (2**30, 0)),
        (1.0, (2**30, 1)),
        (0.75, (3 * 2**29, 0)),
        (2.0**-32, (2**30, -31)),
        (2.0**-33, (0, 0)),  # smaller than any shift can express
        (1 - 2.0**-40, (2**30, 1)),  # rounds up to 2**31, which is halved
        ((2**30 + 0.5) / 2**31, (2**30 + 1, 0)),  # a half rounds away from zero
    ],
)
def test_quantize_multiplier(real: float, expected: tuple[int, int]) -> None:
    assert int8.quantize_multiplier(real) == expected


@pytest.mark.parametrize("real", [-1.0, float("inf"), float("nan"), 2.0**30])
def test_multipliers_that_cannot_be(real: float) -> None:
    with pytest.raises(ValueError, match="the multiplier"):
        int8.quantize_multiplier(real)


@given(st.floats(2.0**-31, 2.0**29))
def test_a_quantized_multiplier_is_within_half_a_unit(real: float) -> None:
    multiplier, shift = int8.quantize_multiplier(real)
    assert 2**30 <= multiplier < 2**31
    exact = Fraction(real) * Fraction(2) ** (31 - shift)
    assert abs(exact - multiplier) <= Fraction(1, 2)


def test_per_channel_multipliers_have_the_tables_dtypes() -> None:
    multipliers, shifts = int8.per_channel_multipliers(np.array([0.5, 0.001]))
    assert (multipliers.dtype, shifts.dtype) == (np.int32, np.int8)
    assert (multipliers[0], shifts[0]) == (2**30, 0)


def c_doubling_high_mul(a: int, b: int) -> int:
    """A transcription of gemmlowp's function; C's division truncates."""
    if a == b == -(2**31):
        return 2**31 - 1
    product = a * b
    nudged = product + (1 << 30 if product >= 0 else 1 - (1 << 30))
    return abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)


def half_away(value: Fraction) -> int:
    magnitude = int(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


@given(int32, int32)
def test_rounding_doubling_high_mul(a: int, b: int) -> None:
    found = int8.rounding_doubling_high_mul(np.array([a]), np.array([b]))
    assert found[0] == c_doubling_high_mul(a, b)


def test_rounding_doubling_high_mul_saturates() -> None:
    low = np.array([-(2**31)])
    assert int8.rounding_doubling_high_mul(low, low)[0] == 2**31 - 1


@given(int32, st.integers(0, 31))
def test_rounding_divide_by_pot(x: int, exponent: int) -> None:
    found = int8.rounding_divide_by_pot(np.array([x]), exponent)
    assert found[0] == half_away(Fraction(x, 2**exponent))


@given(int32, st.integers(2**30, 2**31 - 1), st.integers(-31, 0))
def test_single_rounds_once_halves_away_from_zero(x: int, multiplier: int, shift: int) -> None:
    exact = Fraction(x * multiplier, 2 ** (31 - shift))
    assert multiply(x, multiplier, shift, Rounding.SINGLE) == half_away(exact)


@given(int32, st.integers(2**30, 2**31 - 1), st.integers(-31, 0))
def test_double_rounds_twice(x: int, multiplier: int, shift: int) -> None:
    first = c_doubling_high_mul(x, multiplier)
    expected = half_away(Fraction(first, 2**-shift))
    assert multiply(x, multiplier, shift, Rounding.DOUBLE) == expected


def test_single_and_double_differ() -> None:
    # 7 * 0.07 = 0.49 rounds to 0 once. Rounded twice: 7 * 0.56 = 3.92 -> 4, and 4 / 8 = 0.5 -> 1.
    multiplier, shift = int8.quantize_multiplier(0.07)
    assert multiply(7, multiplier, shift, Rounding.SINGLE) == 0
    assert multiply(7, multiplier, shift, Rounding.DOUBLE) == 1


def test_a_left_shift_wraps() -> None:
    assert multiply(2**30 + 1, 2**30, 2, Rounding.DOUBLE) == 2
    assert multiply(2**30 + 1, 2**30, 2, Rounding.SINGLE) == -(2**31) + 2


@pytest.mark.parametrize(
    ("activation", "scale", "zero_point", "expected"),
    [
        (Activation.NONE, 0.1, 5, (-128, 127)),
        (Activation.RELU, 0.1, 5, (5, 127)),
        (Activation.RELU6, 0.1, 5, (5, 65)),
        (Activation.RELU6, 0.1, 100, (100, 127)),
        (Activation.RELU_N1_TO_1, 0.1, 5, (-5, 15)),
        (Activation.RELU_N1_TO_1, 0.001, 5, (-128, 127)),
        (Activation.RELU6, 4.0, 0, (0, 2)),  # 1.5; halves round away from zero
        (Activation.RELU6, 1e-45, 0, (0, 127)),  # the ratio is infinite in float32
    ],
)
def test_activation_range(
    activation: Activation, scale: float, zero_point: int, expected: tuple[int, int]
) -> None:
    quant = Quant((scale,), (zero_point,))
    assert int8.activation_range(activation, quant, DType.INT8) == expected


def test_conv_scales_are_products_in_double_and_dense_scales_in_float() -> None:
    data, output = tensor(float(np.float32(0.1))), tensor(float(np.float32(0.7)))
    weight = tensor(float(np.float32(0.3)))
    (conv,) = int8.conv_scales(data, weight, output)
    (dense,) = int8.dense_scales(data, weight, output)
    assert conv == data.scale * weight.scale / output.scale
    assert dense == float(np.float32(0.1) * np.float32(0.3)) / output.scale
    assert conv != dense


def test_per_channel_dense_is_scaled_as_a_convolution() -> None:
    data, output = tensor(0.1), tensor(0.7)
    weight = ArrayType((2, 1), DType.INT8, Quant((0.3, 0.4), (0, 0), 0))
    found = int8.dense_scales(data, weight, output)
    np.testing.assert_array_equal(found, int8.conv_scales(data, weight, output))
    assert found.shape == (2,)


def test_add_parameters_of_equal_scales() -> None:
    p = int8.add_parameters(tensor(0.5), tensor(0.5), tensor(1.0))
    assert (p.left_shift, p.lhs_multiplier, p.lhs_shift) == (20, 2**30, 0)
    assert (p.rhs_multiplier, p.rhs_shift) == (2**30, 0)
    assert (p.output_multiplier, p.output_shift) == (2**30, -19)


def test_softmax_parameters() -> None:
    # scale 1/16 as Q5.26 is 2**22 = 2**30 * 2**(23 - 31); 31 * 2**26 / 2**23 = 248
    p = int8.softmax_parameters(tensor(1 / 16), 1.0)
    assert (p.input_multiplier, p.input_left_shift, p.diff_min) == (2**30, 23, -248)


def test_a_huge_softmax_scale_is_held_at_the_greatest_multiplier() -> None:
    p = int8.softmax_parameters(tensor(1e6), 1.0)
    assert (p.input_multiplier, p.input_left_shift, p.diff_min) == (2**31 - 1, 31, 0)


def test_requantize_clamps_and_offsets() -> None:
    sums = np.array([-1000, -3, 0, 3, 1000], np.int32)
    output = ArrayType((5,), DType.INT8, Quant((1.0,), (10,)))
    found = int8.requantize(sums, np.array([1.0]), Rounding.DOUBLE, output, Activation.RELU)
    assert found.dtype == np.int8
    assert found.tolist() == [10, 10, 10, 13, 127]
