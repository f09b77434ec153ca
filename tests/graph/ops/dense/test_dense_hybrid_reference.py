from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import hybrid
from microgen.graph.ops.dense.dense import DENSE_HYBRID, DenseHybridAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import FUSED, float_type, needs_litert
from tests.kernels.convolution import hybrids
from tests.kernels.dense.test_dense_hybrid import case


def _assert_equals_litert(found: c.Case) -> None:
    attrs = found.attrs
    assert isinstance(attrs, DenseHybridAttrs)
    options = {
        "asymmetricQuantizeInputs": attrs.asymmetric,
        "keepNumDims": attrs.keep_num_dims,
        "fusedActivationFunction": FUSED[attrs.activation],
    }
    hybrids.assert_equals_litert(found, "FULLY_CONNECTED", "FullyConnectedOptions", options)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        _assert_equals_litert(case(seed))


@needs_litert
@pytest.mark.parametrize("asymmetric", [False, True])
def test_zero_points_and_roundings_near_ties_equal_litert(asymmetric: bool) -> None:
    """The weights are a unit matrix, so the outputs are the quantized inputs."""
    rng = np.random.default_rng(5)
    low, size = -(10 ** rng.uniform(-3, 3, 20000)), 10 ** rng.uniform(-3, 3, 20000)
    place = (rng.integers(0, 255, low.size) + 0.5) / 255  # the place of zero in the range
    high = np.where(rng.random(low.size) < 0.7, -low * place / (1 - place), size)
    inside = [low + (high - low) * rng.random(low.size) for _ in range(4)]
    rows = np.stack([low, high, *inside], 1).astype(np.float32)
    weight = ArrayType((6, 6), DType.INT8, c.quant(1.0))
    inputs = (
        c.Tensor(float_type(rows.shape), rows),
        c.Tensor(weight, np.eye(6, dtype=np.int8), is_constant=True),
    )
    attrs = DenseHybridAttrs(Activation.NONE, asymmetric, keep_num_dims=False)
    _assert_equals_litert(c.Case("ties", DENSE_HYBRID.name, attrs, inputs, None, DType.FLOAT32))


def test_symmetric_and_asymmetric() -> None:
    row = np.array([-1.0, 0.0, 2.0], np.float32)
    values, scale = hybrid.quantized(row, asymmetric=False)
    assert (values.tolist(), float(scale)) == ([-64, 0, 127], float(np.float32(2 / 127)))
    values, scale = hybrid.quantized(row, asymmetric=True)
    assert (values.tolist(), float(scale)) == ([-85, 0, 170], float(np.float32(3 / 255)))
    for asymmetric in (False, True):
        values, scale = hybrid.quantized(np.zeros(3, np.float32), asymmetric=asymmetric)
        assert (values.tolist(), float(scale)) == ([0, 0, 0], 1.0)


def test_refusals() -> None:
    attrs = DenseHybridAttrs(Activation.NONE, asymmetric=False, keep_num_dims=False)
    x, y = float_type((1, 4)), float_type((1, 2))
    w = ArrayType((2, 4), DType.INT8, c.quant(1.0))

    def said(*inputs: ArrayType, output: ArrayType = y) -> str:
        return str(DENSE_HYBRID.check(attrs, inputs, [output]))

    assert said(x, w) == "None"
    assert "the input is int8[1,4]" in said(replace(x, dtype=DType.INT8), w)
    assert "the weight is float32[2,4]; it must be int8" in said(x, replace(w, dtype=DType.FLOAT32))
    assert "the bias is int32[2]; of float32" in said(x, w, ArrayType((2,), DType.INT32))
    wide = replace(w, shape=(2, 65794))
    assert "65794 products are summed" in said(float_type((1, 65794)), wide)


def test_name_parts() -> None:
    attrs = DenseHybridAttrs(Activation.RELU, asymmetric=False, keep_num_dims=False)
    assert DENSE_HYBRID.parts(attrs, 3) == ("nn_dense_hybrid", "nn_bias_add", "clip")
