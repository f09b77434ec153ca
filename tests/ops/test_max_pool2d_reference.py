from __future__ import annotations

import numpy as np
import pytest

from microgen.arithmetic.terms import Activation
from microgen.ir.graph import DType, TensorType
from microgen.ops.base import Padding
from microgen.ops.max_pool2d import OP, MaxPool2DAttrs
from tests.ops.dtypes import FAMILIES
from tests.ops.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    needs_litert,
)
from tests.ops.pools import litert_case


@needs_litert
@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(litert_case(seed, OP.name, "MAX_POOL_2D", MaxPool2DAttrs, dtype))


def test_padding_does_not_count() -> None:
    data = activation_type((1, 2, 2, 1), 1, 5)
    assert data.quant is not None
    attrs = MaxPool2DAttrs((2, 2), (1, 1), (1, 1, 0, 0), Activation.NONE)
    array = np.array([-9, -4, -5, -6], np.int8).reshape(data.shape)
    found = by_reference(Case(OP.name, attrs, [data], [array], data.quant, "", ""))
    assert found[0, :, :, 0].tolist() == [[-9, -4], [-5, -4]]


@pytest.mark.parametrize(
    ("padding", "sentence"),
    [("VALID", "covers 3x3, but the padded input is only 2x2"), ((3, 0, 0, 0), "smaller than the")],
)
def test_impossible_shapes(padding: Padding, sentence: str) -> None:
    attrs = MaxPool2DAttrs((3, 3 if padding == "VALID" else 1), (1, 1), padding, Activation.NONE)
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [TensorType((1, 2, 2, 1), DType.INT8)])


def test_quantization_must_not_change() -> None:
    attrs = MaxPool2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE)
    data, other = (activation_type((1, 1, 1, 1), scale, 0) for scale in (1.0, 2.0))
    assert OP.check(attrs, [data], [data]) is None
    assert "they must be equal" in str(OP.check(attrs, [data], [other]))


def test_nan_does_not_count() -> None:
    attrs = MaxPool2DAttrs((1, 2), (1, 1), "VALID", Activation.NONE)
    data = TensorType((1, 1, 4, 1), DType.FLOAT32)
    array = np.array([np.nan, 1, np.nan, np.nan], np.float32).reshape(data.shape)
    case = Case(OP.name, attrs, [data], [array], None, "", "", output_dtype=DType.FLOAT32)
    assert by_reference(case).ravel().tolist() == [1, 1, -float(np.finfo(np.float32).max)]
