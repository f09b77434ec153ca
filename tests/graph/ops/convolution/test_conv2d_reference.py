from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import Padding, Pads
from microgen.graph.ops.convolution.conv2d import CONV2D, Conv2DAttrs
from tests.kernels.conformance import conformance
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    needs_litert,
)
from tests.kernels.convolution import convolving
from tests.kernels.convolution.convolving import Geometry


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        assert_equal(convolving.random_int8(seed, depthwise=False))


# LiteRT's CONV_2D requires a bias.
BIASED_CORNERS = [c for c in convolving.int16_corners(Geometry()) if len(c.inputs) == 3]


@needs_litert
@pytest.mark.parametrize("block", range(8))
@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.REDUCED])
def test_int16_equals_litert(block: int, rounding: Rounding) -> None:
    for seed in range(block * 25, block * 25 + 25):
        geometry = litert_geometry(seed)
        case = convolving.random_int16(seed, geometry, rounding)
        convolving.assert_equals_litert(case, geometry)


@needs_litert
@pytest.mark.parametrize("case", BIASED_CORNERS, ids=lambda case: case.name)
def test_int16_corners_equal_litert(case: conformance.Case) -> None:
    convolving.assert_equals_litert(case, Geometry())


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_float_equals_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        geometry = litert_geometry(seed)
        convolving.assert_equals_litert(convolving.float_case(seed, f"{seed}", geometry), geometry)


def litert_geometry(seed: int) -> Geometry:
    """A random geometry with a bias, because LiteRT requires one."""
    paddings = ("SAME", "VALID")
    geometry = convolving.random_geometry(seed, depthwise=False, paddings=paddings)
    return replace(geometry, biased=True)


def test_no_bias_is_a_bias_of_zeros() -> None:
    # LiteRT's CONV_2D requires a bias, so it cannot compute this case.
    case = convolving.random_int8(0, depthwise=False)
    zeros = (*case.arrays[:2], np.zeros_like(case.arrays[2]))
    without = replace(case, types=case.types[:2], arrays=case.arrays[:2])
    np.testing.assert_array_equal(by_reference(without), by_reference(replace(case, arrays=zeros)))


def plain(padding: Padding, size: tuple[int, int], kernel: tuple[int, int]) -> Case:
    """A case of ones in one channel, so each output is the number of cells in the window."""
    types = (
        activation_type((1, *size, 1), 1, 0),
        ArrayType((1, *kernel, 1), DType.INT8, Quant((1.0,), (0,))),
    )
    attrs = Conv2DAttrs((1, 1), (1, 1), padding, Activation.NONE, Rounding.DOUBLE)
    arrays = tuple(np.ones(t.shape, np.int8) for t in types)
    return Case(CONV2D.name, attrs, types, arrays, Quant((1.0,), (0,)), "", "")


def test_same_puts_the_odd_row_of_padding_after() -> None:
    counts = by_reference(plain("SAME", (3, 1), (2, 1)))
    assert counts[0, :, 0, 0].tolist() == [2, 2, 1]


def test_explicit_padding_is_top_left_bottom_right() -> None:
    counts = by_reference(plain((2, 0, 0, 1), (2, 2), (2, 2)))
    assert counts[0, :, :, 0].tolist() == [[0, 0], [2, 1], [4, 2]]


@pytest.mark.parametrize(
    ("padding", "data", "weight", "bias", "sentence"),
    [
        ("VALID", (1, 2, 2, 1), (1, 3, 3, 1), None, "covers 3x3, but the padded input is only 2x2"),
        ("VALID", (2, 2, 1), (1, 1, 1, 1), None, "must have 4 dimensions"),
        ("VALID", (1, 2, 2, 3), (1, 1, 1, 2), None, "2 channels do not divide the input's 3"),
        ("VALID", (1, 2, 2, 4), (3, 1, 1, 2), None, "3 filters do not divide into 2 groups"),
        ("VALID", (1, 2, 2, 1), (4, 1, 1, 1), (3,), "one value per filter, 4, is expected"),
        ((0, -1, 0, 0), (1, 2, 2, 1), (1, 1, 1, 1), None, "must not be negative"),
    ],
)
def test_impossible_shapes(
    padding: Pads | str,
    data: tuple[int, ...],
    weight: tuple[int, ...],
    bias: tuple[int, ...] | None,
    sentence: str,
) -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), padding, Activation.NONE, Rounding.DOUBLE)
    types = [ArrayType(data, DType.INT8), ArrayType(weight, DType.INT8)]
    types += [ArrayType(bias, DType.INT32)] if bias else []
    with pytest.raises(ValueError, match=sentence):
        CONV2D.infer(attrs, types)


def test_strides_must_be_positive() -> None:
    attrs = Conv2DAttrs((0, 1), (1, 1), "SAME", Activation.NONE, Rounding.DOUBLE)
    types = [ArrayType((1, 1, 1, 1), DType.INT8)] * 2
    with pytest.raises(ValueError, match="must all be at least 1"):
        CONV2D.infer(attrs, types)


UNIT = Quant((1.0,), (0,))


@pytest.mark.parametrize(
    ("data", "weight", "bias", "output", "sentence"),
    [
        ((DType.UINT8, UNIT), UNIT, None, UNIT, "the input is uint8"),
        ((DType.INT8, None), UNIT, None, UNIT, "must have one scale and one zero point"),
        ((DType.INT8, Quant((-1.0,), (0,))), UNIT, None, UNIT, "must be positive and finite"),
        ((DType.INT8, Quant((1.0,), (128,))), UNIT, None, UNIT, "zero point is 128"),
        ((DType.INT8, UNIT), None, None, UNIT, "is not quantized"),
        ((DType.INT8, UNIT), Quant((1.0,), (3,)), None, UNIT, "zero point of the weight is 3"),
        ((DType.INT8, UNIT), Quant((1.0,), (0,), 3), None, UNIT, "1 scales along axis 3"),
        ((DType.INT8, UNIT), Quant((1.0,) * 3, (0,) * 3, 0), None, UNIT, "or 2 along axis 0"),
        ((DType.INT8, UNIT), UNIT, (DType.INT8, UNIT), UNIT, "the bias is int8"),
        ((DType.INT8, UNIT), UNIT, (DType.INT32, Quant((2.0,), (0,))), UNIT, "bias's scale is 2"),
        ((DType.INT8, UNIT), UNIT, None, Quant((2.0**-40,), (0,)), "output's scale is too small"),
    ],
)
def test_constraints(
    data: tuple[DType, Quant | None],
    weight: Quant | None,
    bias: tuple[DType, Quant] | None,
    output: Quant,
    sentence: str,
) -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.DOUBLE)
    types = [ArrayType((1, 1, 1, 1), *data), ArrayType((2, 1, 1, 1), DType.INT8, weight)]
    types += [ArrayType((2,), *bias)] if bias else []
    found = CONV2D.check(attrs, types, [ArrayType((1, 1, 1, 2), DType.INT8, output)])
    assert found is not None
    assert sentence in found


PLAIN = ArrayType((1, 1, 1, 1), DType.FLOAT32)
INT16 = ArrayType((1, 1, 1, 1), DType.INT16, UNIT)
INT8 = ArrayType((1, 1, 1, 1), DType.INT8, UNIT)
BIAS32, BIAS64 = ArrayType((1,), DType.INT32), ArrayType((1,), DType.INT64)


@pytest.mark.parametrize(
    ("inputs", "output", "rounding", "sentence"),
    [
        ((PLAIN, INT8), PLAIN, Rounding.DOUBLE, "the weight is int8[1,1,1,1]; of float32 data it"),
        ((PLAIN, PLAIN, BIAS32), PLAIN, Rounding.DOUBLE, "the bias is int32[1]; of float32 data"),
        ((PLAIN, PLAIN), INT8, Rounding.DOUBLE, "they must be of one dtype"),
        ((INT8, PLAIN), INT8, Rounding.DOUBLE, "the weight is float32[1,1,1,1]; it must be int8"),
        ((INT16, PLAIN), INT16, Rounding.REDUCED, "the weight is float32[1,1,1,1]; it must be"),
        ((INT16, INT16), INT16, Rounding.REDUCED, "the weight is int16[1,1,1,1]; it must be int8"),
        ((INT16, INT8), INT8, Rounding.REDUCED, "they must be of one dtype"),
        ((INT16, INT8, BIAS32), INT16, Rounding.REDUCED, "the bias is int32[1]; it must be int64"),
        ((INT16, INT8, BIAS64), INT16, Rounding.DOUBLE, "the bias is int64[1]; it must be int32"),
        ((INT16, INT8), INT16, Rounding.SINGLE, "int16 sums are rounded 'single'; it must be"),
        ((INT8, INT8), INT8, Rounding.REDUCED, "int8 sums are rounded 'reduced'; it must be"),
        ((INT8, INT8, BIAS64), INT8, Rounding.DOUBLE, "the bias is int64[1]; it must be int32"),
    ],
)
def test_dtypes_go_together(
    inputs: tuple[ArrayType, ...], output: ArrayType, rounding: Rounding, sentence: str
) -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, rounding)
    found = CONV2D.check(attrs, inputs, [output])
    assert found is not None
    assert sentence in found


def test_int16_zero_points_and_scales() -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.REDUCED)
    shifted = replace(INT16, quant=Quant((1.0,), (1,)))
    assert "zero point is 1; for int16 it must be 0" in str(
        CONV2D.check(attrs, [shifted, INT8], [INT16])
    )
    small = replace(INT16, quant=Quant((2.0**-13,), (0,)))
    assert "output's scale is too small" in str(CONV2D.check(attrs, [INT16, INT8], [small]))
    assert (
        CONV2D.check(attrs, [INT16, INT8], [replace(small, quant=Quant((2.0**-12,), (0,)))]) is None
    )


@pytest.mark.parametrize(("depth", "fits"), [(65793, True), (65794, False)])
def test_the_accumulator_must_not_overflow(depth: int, fits: bool) -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.NONE, Rounding.DOUBLE)
    types = [
        ArrayType((1, 1, 1, depth), DType.INT8, Quant((1.0,), (-128,))),
        ArrayType((1, 1, 1, depth), DType.INT8, UNIT),
    ]
    output = ArrayType((1, 1, 1, 1), DType.INT8, Quant((2.0,), (0,)))
    found = CONV2D.check(attrs, types, [output])
    assert (found is None) is fits
    assert fits or "int32 accumulator" in str(found)


def test_name_parts() -> None:
    attrs = Conv2DAttrs((1, 1), (1, 1), "VALID", Activation.RELU, Rounding.DOUBLE)
    assert CONV2D.parts(attrs, 3) == ("nn_conv2d", "nn_bias_add", "clip")
