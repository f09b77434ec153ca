from __future__ import annotations

import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.depthwise.depthwise_conv2d import DEPTHWISE_CONV2D, DepthwiseConv2DAttrs
from tests.kernels.conformance import conformance
from tests.kernels.conformance.litert_oracle import assert_equal, needs_litert
from tests.kernels.convolution import convolving
from tests.kernels.convolution.convolving import Geometry

BASE = Geometry(filters=(1, 3, 3, 4), multiplier=1)


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        assert_equal(convolving.random_int8(seed, depthwise=True))


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
    types = [ArrayType(data, DType.INT8), ArrayType(weight, DType.INT8)]
    types += [ArrayType(bias, DType.INT32)] if bias else []
    with pytest.raises(ValueError, match=sentence):
        DEPTHWISE_CONV2D.infer(attrs, types)


def test_weights_are_quantized_along_the_last_axis() -> None:
    attrs = DepthwiseConv2DAttrs((1, 1), (1, 1), "VALID", 1, Activation.NONE, Rounding.DOUBLE)
    unit = Quant((1.0,), (0,))
    data = ArrayType((1, 1, 1, 2), DType.INT8, unit)
    for axis, fits in ((3, True), (0, False)):
        weight = ArrayType((1, 1, 1, 2), DType.INT8, Quant((1.0, 2.0), (0, 0), axis))
        assert (DEPTHWISE_CONV2D.check(attrs, [data, weight], [data]) is None) is fits
