from __future__ import annotations

import numpy as np
import pytest

from microgen.arithmetic.terms import Activation, Rounding
from microgen.ir.graph import DType, Quant, TensorType
from microgen.ops.depthwise_conv2d import OP, DepthwiseConv2DAttrs
from tests.ops import conformance, convolving
from tests.ops.convolving import Geometry
from tests.ops.litert_oracle import (
    FUSED,
    PADDING,
    Case,
    assert_equal,
    needs_litert,
    random_activation_function,
    random_weighted,
)

BASE = Geometry(filters=(1, 3, 3, 4), multiplier=1)


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    kernel_h, kernel_w = (int(n) for n in rng.integers(1, 6, 2))
    channels = int(rng.integers(1, 10))
    depth_multiplier = int(rng.choice([1, 1, 2, 3, 8]))
    dilation_h, dilation_w = (int(n) for n in rng.choice([1, 1, 2, 3], 2))
    padding = str(rng.choice(["SAME", "VALID"]))
    height, width = (int(n) for n in rng.integers(1, 12, 2))
    if padding == "VALID":
        height += (kernel_h - 1) * dilation_h
        width += (kernel_w - 1) * dilation_w
    strides = tuple(int(n) for n in rng.integers(1, 4, 2))
    inputs = random_weighted(
        rng,
        (int(rng.integers(1, 3)), height, width, channels),
        (1, kernel_h, kernel_w, channels * depth_multiplier),
        axis=3,
        products=kernel_h * kernel_w,
        has_bias=bool(rng.random() < 0.8),
    )
    activation = random_activation_function(rng)
    attrs = DepthwiseConv2DAttrs(
        (strides[0], strides[1]),
        (dilation_h, dilation_w),
        padding,
        depth_multiplier,
        activation,
        Rounding.DOUBLE,
    )
    options = {
        "padding": PADDING[padding],
        "strideH": strides[0],
        "strideW": strides[1],
        "depthMultiplier": depth_multiplier,
        "dilationHFactor": dilation_h,
        "dilationWFactor": dilation_w,
        "fusedActivationFunction": FUSED[activation],
    }
    return Case(
        OP.name,
        attrs,
        inputs.types,
        inputs.arrays,
        inputs.output_quant,
        "DEPTHWISE_CONV_2D",
        "DepthwiseConv2DOptions",
        options,
        constants=range(1, len(inputs.types)),
        version=3,
    )


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_int16_and_float_equal_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        paddings = ("SAME", "VALID")
        g = convolving.random_geometry(seed, depthwise=True, paddings=paddings)
        case = convolving.random_int16(seed, g, Rounding.REDUCED)
        convolving.assert_equals_litert(case, g)
        convolving.assert_equals_litert(convolving.float_case(seed, f"{seed}", g), g)


# LiteRT's DEPTHWISE_CONV_2D refuses biases of int32.
WIDE_CORNERS = [
    c for c in convolving.int16_corners(BASE) if c.attrs == BASE.attrs(Rounding.REDUCED)
]


@needs_litert
@pytest.mark.parametrize("case", WIDE_CORNERS, ids=lambda case: case.name)
def test_int16_corners_equal_litert(case: conformance.Case) -> None:
    convolving.assert_equals_litert(case, BASE)


@pytest.mark.parametrize(
    ("data", "weight", "bias", "multiplier", "sentence"),
    [
        ((1, 2, 2, 2), (1, 3, 3, 2), None, 1, "covers 3x3, but the padded input is only 2x2"),
        ((1, 2, 2, 2), (2, 1, 1, 2), None, 1, r"\[1,\*,\*,2\] is expected"),
        ((1, 2, 2, 2), (1, 1, 1, 3), None, 1, r"\[1,\*,\*,2\] is expected"),
        ((1, 2, 2, 2), (1, 1, 1, 2), None, 0, "depth multiplier 0"),
        ((1, 2, 2, 2), (1, 1, 1, 4), (2,), 2, "one value per channel, 4, is expected"),
    ],
)
def test_impossible_shapes(
    data: tuple[int, ...],
    weight: tuple[int, ...],
    bias: tuple[int, ...] | None,
    multiplier: int,
    sentence: str,
) -> None:
    attrs = DepthwiseConv2DAttrs(
        (1, 1), (1, 1), "VALID", multiplier, Activation.NONE, Rounding.DOUBLE
    )
    types = [TensorType(data, DType.INT8), TensorType(weight, DType.INT8)]
    types += [TensorType(bias, DType.INT32)] if bias else []
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, types)


def test_weights_are_quantized_along_the_last_axis() -> None:
    attrs = DepthwiseConv2DAttrs((1, 1), (1, 1), "VALID", 1, Activation.NONE, Rounding.DOUBLE)
    unit = Quant((1.0,), (0,))
    data = TensorType((1, 1, 1, 2), DType.INT8, unit)
    for axis, fits in ((3, True), (0, False)):
        weight = TensorType((1, 1, 1, 2), DType.INT8, Quant((1.0, 2.0), (0, 0), axis))
        assert (OP.check(attrs, [data, weight], [data]) is None) is fits
