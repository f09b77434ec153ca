from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.reductions.softmax import (
    LOG_SOFTMAX,
    SOFTMAX,
    LogSoftmaxAttrs,
    SoftmaxAttrs,
)
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    needs_litert,
    random_values,
)
from tests.kernels.reductions.row_cases import float_rows, random_rows
from tests.kernels.unary.unary_cases import check_int16_is_refused, int16_type

PROBABILITY = Quant((1 / 256,), (-128,))


def _softmax_random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    leading = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 4))))
    depth = int(rng.choice([1, 2, 3, 10, 12, 100, 500]))
    scale = 2.0 ** rng.uniform(-20, 8)
    data = activation_type((*leading, depth), scale, int(rng.integers(-128, 128)))
    beta = float(np.float32(rng.choice([1.0, 1.0, 0.5, 3.7])))
    return Case(
        SOFTMAX.name,
        SoftmaxAttrs(beta),
        [data],
        [random_values(rng, data.shape)],
        PROBABILITY,
        "SOFTMAX",
        "SoftmaxOptions",
        {"beta": beta},
        version=2,
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_softmax_equals_litert(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        assert_equal(_softmax_random_case(seed))


@needs_litert
@pytest.mark.parametrize("scale", [0.05, 0.2, 1.0])
def test_a_thousand_classes_equal_litert(scale: float) -> None:
    data = activation_type((2, 1001), scale, 0)
    values = np.random.default_rng(0).integers(-128, 128, data.shape).astype(np.int8)
    assert_equal(replace(_softmax_random_case(0), types=[data], arrays=[values]))


def test_many_equal_values_vanish() -> None:
    # LiteRT aborts here, because 1/600 is less than half a step of the output.
    data = activation_type((1, 600), 1.0, 0)
    array = np.zeros(data.shape, np.int8)
    found = by_reference(
        Case(SOFTMAX.name, SoftmaxAttrs(1.0), [data], [array], PROBABILITY, "", "")
    )
    assert set(found.flat) == {-128}


def test_probabilities_add_up() -> None:
    data = activation_type((1, 4), 1 / 16, 0)
    array = np.zeros((1, 4), np.int8)
    found = by_reference(
        Case(SOFTMAX.name, SoftmaxAttrs(1.0), [data], [array], PROBABILITY, "", "")
    )
    assert found.tolist() == [[-64] * 4]


@pytest.mark.parametrize(
    ("shape", "scale", "output", "sentence"),
    [
        ((1, 4096), 1.0, PROBABILITY, "the sum holds up to 4095"),
        ((1, 4), 1.0, Quant((1 / 256,), (0,)), "they must be 1/256 and -128"),
        ((1, 4), 1.0, Quant((1 / 128,), (-128,)), "they must be 1/256 and -128"),
        ((1, 4), 2.0**-26, PROBABILITY, "must exceed 2**-26"),
    ],
)
def test_softmax_constraints(
    shape: tuple[int, ...], scale: float, output: Quant, sentence: str
) -> None:
    data = activation_type(shape, scale, 0)
    found = SOFTMAX.check(
        SoftmaxAttrs(1.0), [data], [activation_type(shape, output.scale[0], output.zero_point[0])]
    )
    assert sentence in str(found)


def test_a_scalar_has_no_axis() -> None:
    with pytest.raises(ValueError, match="no last axis"):
        SOFTMAX.infer(SoftmaxAttrs(1.0), [activation_type((), 1.0, 0)])


def _int16_case(seed: int) -> Case:
    """A case of rows with 1 to 5000 values, in a small range or the whole one."""
    rng = np.random.default_rng(seed)
    leading = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    depth = int(rng.choice([1, 2, 3, 10, 100, 1000, 5000]))
    data = replace(int16_type(2.0 ** rng.uniform(-20, 2.3)), shape=(*leading, depth))
    most = int(rng.choice([2**15, 1000, 10]))
    values = rng.integers(-most, most, data.shape).astype(np.int16)
    beta = float(np.float32(rng.choice([1.0, 1.0, 0.5])))
    output = Quant((2.0**-15,), (0,))
    return replace(
        _softmax_random_case(0),
        attrs=SoftmaxAttrs(beta),
        types=[data],
        arrays=[values],
        output_quant=output,
        options={"beta": beta},
        version=3,
        output_dtype=DType.INT16,
    )


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_int16_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_int16_case(seed))


@needs_litert
def test_int16_rows_as_long_as_they_may_be_equal_litert() -> None:
    case = _int16_case(0)
    values = np.zeros((1, 2**16), np.int16)
    types = [replace(case.types[0], shape=values.shape)]
    assert_equal(replace(case, types=types, arrays=[values]))


@needs_litert
@pytest.mark.parametrize("beta", [1.0, 0.5, 3.0])
def test_softmax_floats_equal_litert(beta: float) -> None:
    attrs = SoftmaxAttrs(beta)
    for seed in range(100):
        rows = random_rows(np.random.default_rng(seed))
        assert_equal(
            float_rows(SOFTMAX.name, attrs, "SOFTMAX", rows, "SoftmaxOptions", {"beta": beta})
        )


@pytest.mark.parametrize(
    ("shape", "scale", "output", "sentence"),
    [
        ((1, 2**16 + 1), 1.0, 2.0**-15, "the sum holds up to 65536"),
        ((1, 4), 1.0, 2.0**-14, "they must be 1/32768 and 0"),
        ((1, 4), 5.1, 2.0**-15, "it must be below 5"),
    ],
)
def test_int16_constraints(
    shape: tuple[int, ...], scale: float, output: float, sentence: str
) -> None:
    data, result = (replace(int16_type(s), shape=shape) for s in (scale, output))
    assert sentence in str(SOFTMAX.check(SoftmaxAttrs(1.0), [data], [result]))


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_int16_of_int8_equals_litert(block: int) -> None:
    output = Quant((2.0**-16,), (-(2**15),))
    for seed in range(block * 40, block * 40 + 40):
        case = _softmax_random_case(seed)
        assert_equal(replace(case, output_quant=output, output_dtype=DType.INT16, version=3))


def test_many_equal_values_do_not_vanish_in_int16() -> None:
    data = activation_type((1, 600), 1.0, 0)
    case = Case(
        SOFTMAX.name,
        SoftmaxAttrs(1.0),
        [data],
        [np.zeros(data.shape, np.int8)],
        Quant((2.0**-16,), (-(2**15),)),
        "",
        "",
        output_dtype=DType.INT16,
    )
    assert set(by_reference(case).flat) == {round(2**16 / 600) - 2**15}


ATTRS = LogSoftmaxAttrs()
OUTPUT = Quant((1 / 16,), (127,))
OUTPUT_TYPE = activation_type((1, 3), 1 / 16, 127)


def _case(data: ArrayType, values: np.ndarray) -> Case:
    return Case(LOG_SOFTMAX.name, ATTRS, [data], [values], OUTPUT, "LOG_SOFTMAX", "")


def _log_softmax_random_case(seed: int) -> Case:
    """A case of rows with 1 to 4095 values. Scales are usual, or any that the op takes."""
    rng = np.random.default_rng(seed)
    shape = (*rng.integers(1, 4, rng.integers(0, 3)), rng.choice([1, 2, 3, 10, 100, 1000, 4095]))
    low, high = (-25.9, 8) if rng.random() < 0.3 else (-9, 1)
    size = tuple(int(n) for n in shape)
    data = activation_type(size, 2.0 ** rng.uniform(low, high), int(rng.integers(-128, 128)))
    if rng.random() < 0.3:  # large sums
        return _case(data, rng.integers(100, 128, size).astype(np.int8))
    return _case(data, random_values(rng, size))


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_log_softmax_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_log_softmax_random_case(seed))


@needs_litert
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 511, 512, 2895, 2897, 4095])
def test_equal_values_whose_sum_is_a_whole_number(depth: int) -> None:
    # These sums are reduced in both ways, and some are near the limit between the ways.
    assert_equal(_case(activation_type((1, depth), 0.1, 0), np.full((1, depth), 5, np.int8)))


def test_two_equal_values_have_the_logarithm_of_a_half() -> None:
    found = by_reference(_case(activation_type((1, 2), 0.1, 0), np.zeros((1, 2), np.int8)))
    assert found.tolist() == [[127 - 11, 127 - 11]]  # log(2) is 11.09 sixteenths


def test_shapes() -> None:
    data = activation_type((1, 3), 0.1, 0)
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        LOG_SOFTMAX.infer(ATTRS, [data, data])
    with pytest.raises(ValueError, match="has no last axis"):
        LOG_SOFTMAX.infer(ATTRS, [activation_type((), 0.1, 0)])


def test_log_softmax_constraints() -> None:
    data, deep = activation_type((1, 3), 0.1, 0), activation_type((1, 4096), 0.1, 0)
    assert "they must be 1/16 and 127" in str(LOG_SOFTMAX.check(ATTRS, [data], [data]))
    assert "the last axis has 4096 values" in str(LOG_SOFTMAX.check(ATTRS, [deep], [OUTPUT_TYPE]))
    tiny = activation_type((1, 3), 2.0**-26, 0)
    assert "must exceed 2**-26" in str(LOG_SOFTMAX.check(ATTRS, [tiny], [OUTPUT_TYPE]))
    assert LOG_SOFTMAX.check(ATTRS, [data], [OUTPUT_TYPE]) is None


@needs_litert
def test_log_softmax_floats_equal_litert() -> None:
    for seed in range(100):
        rows = random_rows(np.random.default_rng(seed))
        assert_equal(float_rows(LOG_SOFTMAX.name, ATTRS, "LOG_SOFTMAX", rows, ""))


def test_int16_is_refused() -> None:
    check_int16_is_refused(LOG_SOFTMAX.name, ATTRS)
