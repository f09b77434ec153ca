from __future__ import annotations

from dataclasses import replace

import pytest

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DEPTHWISE_CONV2D_HYBRID,
    DepthwiseConv2DHybridAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import FUSED, PADDING, float_type, needs_litert
from tests.kernels.convolution import hybrids
from tests.kernels.depthwise.test_depthwise_conv2d_hybrid import case


def _assert_equals_litert(found: c.Case) -> None:
    attrs = found.attrs
    assert isinstance(attrs, DepthwiseConv2DHybridAttrs)
    assert isinstance(attrs.padding, str)
    options = {
        "padding": PADDING[attrs.padding],
        "strideH": attrs.strides[0],
        "strideW": attrs.strides[1],
        "dilationHFactor": attrs.dilation[0],
        "dilationWFactor": attrs.dilation[1],
        "depthMultiplier": attrs.depth_multiplier,
        "fusedActivationFunction": FUSED[attrs.activation],
    }
    hybrids.assert_equals_litert(found, "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", options)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        _assert_equals_litert(case(seed, paddings=("SAME", "VALID")))


def test_refusals() -> None:
    attrs = DepthwiseConv2DHybridAttrs((1, 1), (1, 1), "SAME", 1, Activation.NONE)
    x = float_type((1, 4, 4, 2))
    w = ArrayType((1, 3, 3, 2), DType.INT8, Quant((1.0, 2.0), (0, 0), 3))

    def said(*inputs: ArrayType) -> str:
        return str(DEPTHWISE_CONV2D_HYBRID.check(attrs, inputs, [x]))

    assert said(x, w) == "None"
    assert "the hybrid depthwise convolution's weight has 1 scale; one per channel, 2," in said(
        x, replace(w, quant=Quant((1.0,), (0,)))
    )
    assert "the weight is float32" in said(x, replace(w, dtype=DType.FLOAT32))


def test_name_parts() -> None:
    attrs = DepthwiseConv2DHybridAttrs((1, 1), (1, 1), "VALID", 1, Activation.RELU)
    assert DEPTHWISE_CONV2D_HYBRID.parts(attrs, 3) == (
        "nn_depthwise_conv2d_hybrid",
        "nn_bias_add",
        "clip",
    )
