from __future__ import annotations

from dataclasses import replace

import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.convolution.conv2d import CONV2D_HYBRID, Conv2DHybridAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import FUSED, PADDING, float_type, needs_litert
from tests.kernels.convolution import convolving, hybrids
from tests.kernels.convolution.test_conv2d_hybrid import of


def _assert_equals_litert(found: c.Case) -> None:
    attrs = found.attrs
    assert isinstance(attrs, Conv2DHybridAttrs)
    assert isinstance(attrs.padding, str)
    options = {
        "padding": PADDING[attrs.padding],
        "strideH": attrs.strides[0],
        "strideW": attrs.strides[1],
        "dilationHFactor": attrs.dilation[0],
        "dilationWFactor": attrs.dilation[1],
        "fusedActivationFunction": FUSED[attrs.activation],
    }
    hybrids.assert_equals_litert(found, "CONV_2D", "Conv2DOptions", options)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        # LiteRT's CONV_2D requires a bias.
        g = convolving.random_geometry(seed, depthwise=False, paddings=("SAME", "VALID"))
        _assert_equals_litert(of(seed, replace(g, biased=True)))


def test_refusals() -> None:
    attrs = Conv2DHybridAttrs((1, 1), (1, 1), "SAME", Activation.NONE)
    x, y = float_type((1, 4, 4, 6)), float_type((1, 4, 4, 2))
    w = ArrayType((2, 3, 3, 6), DType.INT8, Quant((1.0,), (0,)))

    def said(*inputs: ArrayType) -> str:
        return str(CONV2D_HYBRID.check(attrs, inputs, [y]))

    assert said(x, w) == "None"
    assert "the hybrid convolution is grouped" in said(x, replace(w, shape=(2, 3, 3, 3)))
    assert "the weight is int16" in said(x, replace(w, dtype=DType.INT16))


def test_name_parts() -> None:
    attrs = Conv2DHybridAttrs((1, 1), (1, 1), "VALID", Activation.RELU)
    assert CONV2D_HYBRID.parts(attrs, 3) == ("nn_conv2d_hybrid", "nn_bias_add", "clip")
