"""int32 forms that only Relay graphs have: averages, qnn.quantize, qnn.dequantize."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.pooling import pooling
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs, QuantizeAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import tvm_oracle


def pool(seed: int) -> c.Case:
    """A case of small values whose averages are not whole, or of large values whose sums wrap."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 3)), *(int(n) for n in rng.integers(2, 7, 2)), 3)
    most = 2**31 - 1 if seed % 4 == 0 else 100
    values = rng.integers(-most - 1, most, shape).astype(np.int32)
    size = (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    pads = (size[0] // 2, size[1] // 2, 0, 0)
    attrs = AvgPool2DAttrs(size, (1, 2), pads, list(Activation)[seed % 4])
    data = c.Tensor(ArrayType(shape, DType.INT32), values)
    return c.Case(f"average {seed}", "nn.avg_pool2d", attrs, (data,), None, DType.INT32)


def quantized(seed: int) -> c.Case:
    """A case of ties and their neighbours, large quotients, and numbers beyond int32."""
    rng = np.random.default_rng(seed)
    scale = float(np.float32(10.0 ** rng.uniform(-4, 1)))
    halves = (rng.integers(-50, 50, 20) + 0.5) * scale
    far = rng.normal(0, 1, 30) * 2.0 ** rng.uniform(0, 34, 30) * scale
    ends = np.array([np.inf, -np.inf, np.nan, 2.0**31 * scale, -(2.0**31) * scale, 0])
    values = np.concatenate([halves, np.nextafter(np.float32(halves), 0), far, ends])
    data = c.Tensor(ArrayType(values.shape, DType.FLOAT32), values.astype(np.float32))
    of = Quant((scale,), (0,))
    return c.Case(f"quantize {seed}", "qnn.quantize", QuantizeAttrs(), (data,), of, DType.INT32)


def dequantized(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    of = Quant((float(np.float32(10.0 ** rng.uniform(-4, 1))),), (0,))
    limits = np.iinfo(np.int32)
    values = rng.integers(limits.min, limits.max, 40).astype(np.int32)
    values[:3] = limits.min, limits.max, 2**24 + 1  # float32 cannot represent the last one
    data = c.Tensor(ArrayType(values.shape, DType.INT32, of), values)
    attrs = DequantizeAttrs()
    return c.Case(f"dequantize {seed}", "qnn.dequantize", attrs, (data,), None, DType.FLOAT32)


CASES = [make(seed) for seed in range(12) for make in (pool, quantized, dequantized)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[:9], tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_references_equal_the_definitions(seed: int) -> None:
    to, of = quantized(seed), dequantized(seed)
    assert to.output_quant
    assert of.inputs[0].type.quant
    finite = np.isfinite(to.inputs[0].array)
    pair = (to.output_quant.scale[0], 0)
    expected = tvm_oracle.quantize(to.inputs[0].array[finite], pair, "int32")
    np.testing.assert_array_equal(to.expected[finite], expected)
    real = tvm_oracle.dequantize(of.inputs[0].array, (of.inputs[0].type.scale, 0))
    np.testing.assert_array_equal(of.expected, real)


def test_averages_are_truncated() -> None:
    values = np.array([-3, -2, 2, 3], np.int32).reshape(1, 2, 2, 1)
    attrs = AvgPool2DAttrs((2, 1), (1, 1), "VALID", Activation.NONE)
    data = c.Tensor(ArrayType(values.shape, DType.INT32), values)
    case = c.Case("halves", "nn.avg_pool2d", attrs, (data,), None, DType.INT32)
    assert case.expected.reshape(-1).tolist() == [0, 0]
    wide = AvgPool2DAttrs((1, 2), (1, 1), "VALID", Activation.NONE)
    case = c.Case("halves", "nn.avg_pool2d", wide, (data,), None, DType.INT32)
    assert case.expected.reshape(-1).tolist() == [-2, 2]


def test_averages_are_of_plain_numbers() -> None:
    kind = ArrayType((1, 2, 2, 1), DType.INT32, Quant((0.5,), (0,)))
    attrs = AvgPool2DAttrs((2, 1), (1, 1), "VALID", Activation.NONE)
    assert "has a scale" in str(pooling.avg_pool2d_check(attrs, [kind], [kind]))
