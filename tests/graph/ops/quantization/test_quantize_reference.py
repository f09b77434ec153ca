from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, Quant, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.conversions import QUANTIZE, QUANTIZE_TO, QuantizeAttrs
from tests.kernels.conformance.litert_oracle import Case, assert_equal, float_type, needs_litert
from tests.kernels.quantization.test_quantize import random_output, values


@needs_litert
def test_equals_litert() -> None:
    for seed in range(60):
        rng, dtype = np.random.default_rng(seed), QUANTIZE_TO[seed % 3]
        quant = random_output(rng, dtype)
        data = values(rng, quant, dtype)
        case = Case(
            QUANTIZE.name,
            QuantizeAttrs(),
            [float_type(data.shape)],
            [data],
            quant,
            "QUANTIZE",
            "QuantizeOptions",
            output_dtype=dtype,
        )
        assert_equal(case)


def test_what_litert_leaves_undefined() -> None:
    output = TensorType((6,), DType.INT8, Quant((0.5,), (3,)))
    data = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10], np.float32)
    (found,) = QUANTIZE.reference(
        QuantizeAttrs(), Operands((data,), (float_type((6,)),), (output,))
    )
    assert found.tolist() == [-128, 127, -128, 127, -128, 127]


@pytest.mark.parametrize(
    ("data", "output", "sentence"),
    [
        (TensorType((2,), DType.INT32), TensorType((2,), DType.INT8), "the input is int32[2]"),
        (float_type((2,)), TensorType((2,), DType.INT8), "must have one scale"),
        (
            float_type((2,)),
            TensorType((2,), DType.INT32),
            "the output int32[2] must have one scale",
        ),
    ],
)
def test_refusals(data: TensorType, output: TensorType, sentence: str) -> None:
    assert sentence in str(QUANTIZE.check(QuantizeAttrs(), [data], [output]))


def test_it_has_one_input() -> None:
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        QUANTIZE.infer(QuantizeAttrs(), [float_type((2,))] * 2)
