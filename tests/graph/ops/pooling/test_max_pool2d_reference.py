from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.pooling.pooling import MAX_POOL2D, MaxPool2DAttrs
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.litert_oracle import Case, assert_equal, by_reference, needs_litert
from tests.kernels.pooling.pools import check_refusals, four_windows, litert_case


@needs_litert
@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(litert_case(seed, MAX_POOL2D.name, "MAX_POOL_2D", MaxPool2DAttrs, dtype))


def test_padding_does_not_count() -> None:
    assert four_windows(MAX_POOL2D.name, MaxPool2DAttrs) == [[-9, -4], [-5, -4]]


def test_refusals() -> None:
    check_refusals(MAX_POOL2D, MaxPool2DAttrs)


def test_nan_does_not_count() -> None:
    attrs = MaxPool2DAttrs((1, 2), (1, 1), "VALID", Activation.NONE)
    data = TensorType((1, 1, 4, 1), DType.FLOAT32)
    array = np.array([np.nan, 1, np.nan, np.nan], np.float32).reshape(data.shape)
    case = Case(MAX_POOL2D.name, attrs, [data], [array], None, "", "", output_dtype=DType.FLOAT32)
    assert by_reference(case).ravel().tolist() == [1, 1, -float(np.finfo(np.float32).max)]
