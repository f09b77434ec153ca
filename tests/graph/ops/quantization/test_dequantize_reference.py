from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, Quant, TensorType
from microgen.graph.ops.quantization.conversions import DEQUANTIZE, DEQUANTIZE_FROM, DequantizeAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    by_litert,
    by_reference,
    float_type,
    needs_litert,
)
from tests.kernels.quantization.test_dequantize import random_data
from tests.support.arrays import assert_same


@needs_litert
def test_equals_litert_exactly() -> None:
    for seed in range(60):
        kind, array = random_data(np.random.default_rng(seed), DEQUANTIZE_FROM[seed % 3])
        case = Case(
            DEQUANTIZE.name,
            DequantizeAttrs(),
            [kind],
            [array],
            None,
            "DEQUANTIZE",
            "DequantizeOptions",
            version=5,
            output_dtype=DType.FLOAT32,
        )
        assert_same(by_reference(case), by_litert(case), kind)


@pytest.mark.parametrize(
    ("data", "output", "sentence"),
    [
        (float_type((2,)), float_type((2,)), "the input is float32[2]"),
        (TensorType((2,), DType.INT16), float_type((2,)), "must have one scale"),
        (
            TensorType((2,), DType.INT8, Quant((1.0,), (0,))),
            TensorType((2,), DType.INT32),
            "the output is int32[2]",
        ),
    ],
)
def test_refusals(data: TensorType, output: TensorType, sentence: str) -> None:
    assert sentence in str(DEQUANTIZE.check(DequantizeAttrs(), [data], [output]))


def test_it_has_one_input() -> None:
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        DEQUANTIZE.infer(DequantizeAttrs(), [float_type((2,))] * 2)
