from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import Quant, TensorType
from microgen.graph.ops.reductions.softmax import LOG_SOFTMAX, LogSoftmaxAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    needs_litert,
    random_values,
)
from tests.kernels.reductions.row_cases import float_rows, random_rows
from tests.kernels.unary.unary_cases import check_int16_is_refused

ATTRS = LogSoftmaxAttrs()
OUTPUT = Quant((1 / 16,), (127,))
OUTPUT_TYPE = activation_type((1, 3), 1 / 16, 127)


def _case(data: TensorType, values: np.ndarray) -> Case:
    return Case(LOG_SOFTMAX.name, ATTRS, [data], [values], OUTPUT, "LOG_SOFTMAX", "")


def random_case(seed: int) -> Case:
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
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


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


def test_constraints() -> None:
    data, deep = activation_type((1, 3), 0.1, 0), activation_type((1, 4096), 0.1, 0)
    assert "they must be 1/16 and 127" in str(LOG_SOFTMAX.check(ATTRS, [data], [data]))
    assert "the last axis has 4096 values" in str(LOG_SOFTMAX.check(ATTRS, [deep], [OUTPUT_TYPE]))
    tiny = activation_type((1, 3), 2.0**-26, 0)
    assert "must exceed 2**-26" in str(LOG_SOFTMAX.check(ATTRS, [tiny], [OUTPUT_TYPE]))
    assert LOG_SOFTMAX.check(ATTRS, [data], [OUTPUT_TYPE]) is None


@needs_litert
def test_floats_equal_litert() -> None:
    for seed in range(100):
        rows = random_rows(np.random.default_rng(seed))
        assert_equal(float_rows(LOG_SOFTMAX.name, ATTRS, "LOG_SOFTMAX", rows, ""))


def test_int16_is_refused() -> None:
    check_int16_is_refused(LOG_SOFTMAX.name, ATTRS)
