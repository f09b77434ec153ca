from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.conversions import (
    ACCEPTED,
    CAST,
    DEQUANTIZE,
    DEQUANTIZE_FROM,
    QUANTIZE,
    QUANTIZE_TO,
    CastAttrs,
    DequantizeAttrs,
    QuantizeAttrs,
)
from tests.kernels.conformance.every_dtype import random_type
from tests.kernels.conformance.litert_oracle import (
    Case,
    assert_equal,
    by_litert,
    by_reference,
    float_type,
    needs_litert,
)
from tests.kernels.quantization.test_conversions import (
    cast_values,
    quantize_values,
    random_data,
    random_output,
)
from tests.support.arrays import assert_same

WIDE = (DType.UINT16, DType.UINT32, DType.UINT64)
KNOWN = [dtype for dtype in ACCEPTED if dtype is not DType.UINT64]  # LiteRT's CAST has these


@needs_litert
@pytest.mark.parametrize(("source", "target"), list(product(KNOWN, repeat=2)))
def test_cast_equals_litert(source: DType, target: DType) -> None:
    """Stored values are cast, whatever they mean. Floats out of range become what LiteRT gives."""
    rng = np.random.default_rng(2)
    array = cast_values(rng, source)
    data, output = random_type(rng, array.shape, source), random_type(rng, (), target)
    case = Case(
        CAST.name,
        CastAttrs(),
        [data],
        [array],
        output.quant,
        "CAST",
        "CastOptions",
        output_dtype=target,
    )
    np.testing.assert_array_equal(by_reference(case), by_litert(case))


@pytest.mark.parametrize("target", WIDE)
def test_integers_without_a_sign_equal_numpys(target: DType) -> None:
    """Integers wrap as numpy's do. Floats inside of the range are truncated, others saturate."""
    limits, rng = np.iinfo(target.numpy), np.random.default_rng(3)
    kind = ArrayType((), target)
    for source in ACCEPTED:
        array = cast_values(rng, source)
        operands = Operands((array,), (ArrayType(array.shape, source),), (kind,))
        (found,) = CAST.reference(CastAttrs(), operands)
        if source is not DType.FLOAT32:
            np.testing.assert_array_equal(found, array.astype(target.numpy))
            continue
        for x, y in zip(array.tolist(), found.tolist(), strict=True):
            whole = limits.max if np.isnan(x) else np.clip(x, -1, 2.0**65)
            assert y == min(max(int(whole), 0), limits.max)


def test_cast_refusals() -> None:
    data = ArrayType((2,), DType.INT8)
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        CAST.infer(CastAttrs(), [data, data])


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
        (ArrayType((2,), DType.INT16), float_type((2,)), "must have one scale"),
        (
            ArrayType((2,), DType.INT8, Quant((1.0,), (0,))),
            ArrayType((2,), DType.INT32),
            "the output is int32[2]",
        ),
    ],
)
def test_dequantize_refusals(data: ArrayType, output: ArrayType, sentence: str) -> None:
    assert sentence in str(DEQUANTIZE.check(DequantizeAttrs(), [data], [output]))


def test_dequantize_it_has_one_input() -> None:
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        DEQUANTIZE.infer(DequantizeAttrs(), [float_type((2,))] * 2)


@needs_litert
def test_quantize_equals_litert() -> None:
    for seed in range(60):
        rng, dtype = np.random.default_rng(seed), QUANTIZE_TO[seed % 3]
        quant = random_output(rng, dtype)
        data = quantize_values(rng, quant, dtype)
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
    output = ArrayType((6,), DType.INT8, Quant((0.5,), (3,)))
    data = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e10], np.float32)
    (found,) = QUANTIZE.reference(
        QuantizeAttrs(), Operands((data,), (float_type((6,)),), (output,))
    )
    assert found.tolist() == [-128, 127, -128, 127, -128, 127]


@pytest.mark.parametrize(
    ("data", "output", "sentence"),
    [
        (ArrayType((2,), DType.INT32), ArrayType((2,), DType.INT8), "the input is int32[2]"),
        (float_type((2,)), ArrayType((2,), DType.INT8), "must have one scale"),
        (
            float_type((2,)),
            ArrayType((2,), DType.INT32),
            "the output int32[2] must have one scale",
        ),
    ],
)
def test_quantize_refusals(data: ArrayType, output: ArrayType, sentence: str) -> None:
    assert sentence in str(QUANTIZE.check(QuantizeAttrs(), [data], [output]))


def test_quantize_it_has_one_input() -> None:
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        QUANTIZE.infer(QuantizeAttrs(), [float_type((2,))] * 2)
