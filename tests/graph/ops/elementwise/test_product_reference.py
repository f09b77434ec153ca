from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.elementwise.product import (
    MULTIPLY,
    POWER,
    PRELU,
    MultiplyAttrs,
    PowerAttrs,
    PReluAttrs,
)
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    float_type,
    needs_litert,
    random_activation,
    random_floats,
    random_values,
)
from tests.kernels.elementwise import broadcasting
from tests.kernels.elementwise.test_product import float_cases, integer_cases
from tests.kernels.unary.unary_cases import int16_type

NONE = MultiplyAttrs(Activation.NONE)


def _multiply_random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        MULTIPLY.name,
        "MUL",
        "MulOptions",
        MultiplyAttrs,
        lambda lhs, rhs: (128 if lhs.dtype is DType.INT8 else 32768) * lhs.scale * rhs.scale,
        dtype=dtype,
    )


def pairs_case(scales: tuple[float, float, float], zero_points: tuple[int, int, int]) -> Case:
    return broadcasting.all_pairs(MULTIPLY.name, "MUL", "MulOptions", NONE, scales, zero_points)


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_multiply_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_multiply_random_case(seed))


@needs_litert
def test_every_pair_of_values() -> None:
    for zero_points in ((-128, -128, -128), (127, -128, 0), (127, 127, 127), (3, -5, 7)):
        assert_equal(pairs_case((0.1, 0.2, 0.7), zero_points))


@needs_litert
@pytest.mark.parametrize("exponent", [0, 8, 15, 16, 20, 29])
def test_a_tiny_output_scale_wraps_around(exponent: int) -> None:
    assert_equal(pairs_case((1.0, 1.5, 2.0**-exponent), (3, -5, 7)))


@needs_litert
@pytest.mark.parametrize("output_scale", [2.0**16, 2.0**31, 2.0**40])
def test_a_huge_output_scale(output_scale: float) -> None:
    assert_equal(pairs_case((1.0, 1.5, output_scale), (3, -5, 7)))


@needs_litert
def test_the_product_of_scales_is_rounded_to_float32() -> None:
    # In float32 the multiplier is exactly 1/2, so products are scaled to halves. In double it is
    # not.
    rng = np.random.default_rng(1)
    found = 0
    while found < 10:
        lhs, rhs = (np.float32(2 ** rng.uniform(-9, 1)) for _ in range(2))
        output = lhs * rhs * np.float32(2)
        if float(lhs) * float(rhs) / float(output) != 0.5:
            assert_equal(pairs_case((float(lhs), float(rhs), float(output)), (0, 0, 0)))
            found += 1


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(_multiply_random_case(seed, dtype))


def test_refusals() -> None:
    broadcasting.check_refusals(MULTIPLY.name, NONE)


def test_scales_too_far_apart() -> None:
    data, output = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-30, 0)
    assert "2**30 times the output scale" in str(MULTIPLY.check(NONE, [data, data], [output]))


def _whole(base: int, exponent: int, bits: int) -> int:
    if exponent < 0:
        return 0 if abs(base) != 1 else base ** (exponent % 2)
    return pow(base, exponent, 2**bits)


def test_integers_equal_pythons_modulo_the_dtype() -> None:
    for case in integer_cases(30):
        lhs, rhs = np.broadcast_arrays(*(tensor.array for tensor in case.inputs))
        bits = 8 * lhs.dtype.itemsize
        pairs = zip(lhs.reshape(-1).tolist(), rhs.reshape(-1).tolist(), strict=True)
        expected = [_whole(base, exponent, bits) % 2**bits for base, exponent in pairs]
        assert [value % 2**bits for value in case.expected.reshape(-1).tolist()] == expected


def test_special_floats_equal_c() -> None:
    for case in float_cases(20):
        x, y = (float(tensor.array[0]) for tensor in case.inputs)
        try:
            expected = math.pow(x, y)
        except OverflowError:
            expected = math.inf if x > 0 or y % 2 == 0 else -math.inf
        except ValueError:  # 0 to a negative power, or a root of a negative number
            odd = y % 2 == 1
            expected = math.nan if x else math.copysign(math.inf, x if odd else 1)
        with np.errstate(over="ignore"):
            np.testing.assert_equal(case.expected[0], np.array(expected).astype(np.float32))


def test_square_roots_do_not_depend_on_shapes() -> None:
    x = np.array([-np.inf, -0.0, 4.0], np.float32)
    for y in (np.float32(0.5), np.full(3, 0.5, np.float32)):
        kinds = tuple(ArrayType(np.shape(a), DType.FLOAT32) for a in (x, y))
        operands = Operands((x, np.asarray(y)), kinds, kinds[:1])
        (found,) = POWER.reference(PowerAttrs(), operands)
        assert found.tolist() == [np.inf, 0, 2]
        assert not np.signbit(found).any()


def test_other_dtypes_are_refused() -> None:
    kind = ArrayType((2,), DType.UINT8)
    sentence = POWER.check(PowerAttrs(), [kind, kind], [kind])
    assert "all must be of one dtype: int32 or int64 or float32" in str(sentence)


ATTRS = PReluAttrs()


def _alpha_shape(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The data's shape, with some axes 1, and some of the first axes left out."""
    partial = tuple(n if rng.random() < 0.6 else 1 for n in shape)
    return partial[int(rng.integers(len(shape))) :]


def _prelu_random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    data = random_activation(rng, tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5))))
    alpha = random_activation(rng, _alpha_shape(rng, data.shape))
    scale = data.scale * 2.0 ** rng.uniform(-8, 4)
    output = (
        data if rng.random() < 0.2 else activation_type((), scale, int(rng.integers(-128, 128)))
    )
    arrays = [random_values(rng, kind.shape) for kind in (data, alpha)]
    constants = [1] if rng.random() < 0.8 else []
    assert output.quant is not None
    return Case(
        PRELU.name, ATTRS, [data, alpha], arrays, output.quant, "PRELU", "", constants=constants
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_prelu_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_prelu_random_case(seed))


@needs_litert
@pytest.mark.parametrize("zero_points", [(0, 0), (3, -128), (-128, 127), (127, 5)])
def test_every_value_with_every_alpha(zero_points: tuple[int, int]) -> None:
    every = np.arange(-128, 128).astype(np.int8)
    data = activation_type((256, 256), 0.05, zero_points[0])
    alpha = activation_type((256,), 0.01, zero_points[1])
    arrays = [np.repeat(every[:, None], 256, axis=1), every]
    output = activation_type((), 0.04, 7)
    assert output.quant is not None
    case = Case(PRELU.name, ATTRS, [data, alpha], arrays, output.quant, "PRELU", "", constants=[1])
    assert_equal(case)


def _float_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5)))
    types = [float_type(shape), float_type(_alpha_shape(rng, shape))]
    arrays = [random_floats(rng, kind.shape) for kind in types]
    return Case(
        PRELU.name,
        ATTRS,
        types,
        arrays,
        None,
        "PRELU",
        "",
        constants=[1],
        output_dtype=DType.FLOAT32,
    )


def _int16_case(seed: int) -> Case:
    """A case of int16 data with int8 alpha."""
    rng = np.random.default_rng(seed)
    case = _prelu_random_case(seed)
    shape, scale = case.types[0].shape, 2.0 ** rng.uniform(-16, -4)
    data = replace(int16_type(scale), shape=shape)
    output = int16_type(scale * 2.0 ** rng.uniform(-8, 4)).quant
    values = rng.integers(-(2**15), 2**15, shape).astype(np.int16)
    return replace(
        case,
        types=[data, case.types[1]],
        arrays=[values, case.arrays[1]],
        output_quant=output,
        output_dtype=DType.INT16,
    )


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_int16_and_floats_equal_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_int16_case(seed))
        assert_equal(_float_case(seed))


@needs_litert
@pytest.mark.parametrize("zero_point", [0, -128, 127])
def test_int16_extremes_with_every_alpha(zero_point: int) -> None:
    every = np.arange(-128, 128).astype(np.int8)
    extremes = np.array([[-(2**15)], [2**15 - 1], [-1], [0], [1]], np.int16)
    data = replace(int16_type(0.001), shape=(5, 256))
    arrays = [np.repeat(extremes, 256, axis=1), every]
    types = [data, activation_type((256,), 0.01, zero_point)]
    for power in range(-16, 0, 3):
        output = int16_type(2.0**power).quant
        assert_equal(replace(_int16_case(0), types=types, arrays=arrays, output_quant=output))


def test_alpha_must_broadcast_to_the_data() -> None:
    data, alpha = activation_type((1, 3), 1, 0), activation_type((2, 3), 1, 0)
    with pytest.raises(ValueError, match="it must broadcast to the data"):
        PRELU.infer(ATTRS, [data, alpha])


def test_constraints() -> None:
    data, tiny = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-40, 0)
    assert "is 2**30 or more" in str(PRELU.check(ATTRS, [data, data], [tiny]))
    wide = int16_type(1.0, 1)
    assert "the alpha is int16[1]; it must be int8" in str(PRELU.check(ATTRS, [data, wide], [data]))
    assert "the alpha is int16[1]; it must be int8" in str(PRELU.check(ATTRS, [wide, wide], [wide]))
