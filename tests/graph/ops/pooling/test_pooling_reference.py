from __future__ import annotations

import functools

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.pooling.pooling import (
    AVG_POOL2D,
    MAX_POOL2D,
    AvgPool2DAttrs,
    MaxPool2DAttrs,
)
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.litert_oracle import Case, assert_equal, by_reference, needs_litert
from tests.kernels.pooling.pools import check_refusals, four_windows, litert_case


@needs_litert
@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_avg_pool2d_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(litert_case(seed, AVG_POOL2D.name, "AVERAGE_POOL_2D", AvgPool2DAttrs, dtype))


def test_avg_pool2d_padding_does_not_count() -> None:
    # -6.5 rounds away from zero
    assert four_windows(AVG_POOL2D.name, AvgPool2DAttrs) == [[-9, -7], [-7, -6]]


def test_halves_may_be_rounded_upwards() -> None:
    upward = functools.partial(AvgPool2DAttrs, ties_upward=True)
    assert four_windows(AVG_POOL2D.name, upward) == [[-9, -6], [-7, -6]]
    attrs = upward((1, 1), (1, 1), "VALID", Activation.NONE)
    data = ArrayType((1, 1, 1, 1), DType.INT16, Quant((1.0,), (0,)))
    assert "halves are rounded upwards for int8 only" in str(
        AVG_POOL2D.check(attrs, [data], [data])
    )


def test_avg_pool2d_refusals() -> None:
    check_refusals(AVG_POOL2D, AvgPool2DAttrs)


def test_sums_of_integers_must_fit_int32() -> None:
    attrs = AvgPool2DAttrs((256, 256), (1, 1), "VALID", Activation.NONE)
    for dtype, sentence in ((DType.INT16, "65536 cells may sum to 2147483648"), (DType.INT8, None)):
        data = ArrayType((1, 300, 300, 1), dtype, Quant((1.0,), (0,)))
        assert str(sentence) in str(AVG_POOL2D.check(attrs, [data], [data]))


@needs_litert
@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_max_pool2d_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(litert_case(seed, MAX_POOL2D.name, "MAX_POOL_2D", MaxPool2DAttrs, dtype))


def test_max_pool2d_padding_does_not_count() -> None:
    assert four_windows(MAX_POOL2D.name, MaxPool2DAttrs) == [[-9, -4], [-5, -4]]


def test_max_pool2d_refusals() -> None:
    check_refusals(MAX_POOL2D, MaxPool2DAttrs)


def test_nan_does_not_count() -> None:
    attrs = MaxPool2DAttrs((1, 2), (1, 1), "VALID", Activation.NONE)
    data = ArrayType((1, 1, 4, 1), DType.FLOAT32)
    array = np.array([np.nan, 1, np.nan, np.nan], np.float32).reshape(data.shape)
    case = Case(MAX_POOL2D.name, attrs, [data], [array], None, "", "", output_dtype=DType.FLOAT32)
    assert by_reference(case).ravel().tolist() == [1, 1, -float(np.finfo(np.float32).max)]
