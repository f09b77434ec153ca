from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tflite

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.base import Padding, Pads, Pair
from microgen.graph.ops.convolution.conv2d_transpose import CONV2D_TRANSPOSE, Conv2DTransposeAttrs
from tests.kernels.conformance.litert_oracle import (
    FUSED,
    PADDING,
    Case,
    activation_type,
    assert_equal,
    by_reference,
    int32_constant,
    needs_litert,
    random_activation_function,
    random_weighted,
)
from tests.support.tflite_builder import OptionValue


def random_case(seed: int) -> Case:
    """A case with SAME or VALID padding. Every third output is as large as the stride allows."""
    rng = np.random.default_rng(seed)
    kernel_h, kernel_w, depth, filters = (int(n) for n in rng.integers(1, 6, 4))
    strides = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    height, width = (int(n) for n in rng.choice([1, 2, 3, 5, 8], 2))
    padding: Padding = "SAME" if rng.random() < 0.5 else "VALID"
    inputs = random_weighted(
        rng,
        (int(rng.integers(1, 3)), height, width, depth),
        (filters, kernel_h, kernel_w, depth),
        axis=0,
        products=-(-kernel_h // strides[0]) * -(-kernel_w // strides[1]) * depth,
        has_bias=bool(rng.integers(2)),
    )
    size = _output(rng, padding, (height, width), (kernel_h, kernel_w), strides)
    activation = random_activation_function(rng)
    attrs = Conv2DTransposeAttrs(strides, padding, size, activation, Rounding.DOUBLE)
    shape = np.array([inputs.types[0].shape[0], *size, filters], np.int32)
    return Case(
        CONV2D_TRANSPOSE.name,
        attrs,
        inputs.types,
        inputs.arrays,
        inputs.output_quant,
        "TRANSPOSE_CONV",
        "TransposeConvOptions",
        _options(attrs),
        constants=range(1, len(inputs.types)),
        extra=(int32_constant("shape", shape),),
        order=("shape", "input1", "input0", "input2")[: len(inputs.types) + 1],
        version=4,
    )


def _options(attrs: Conv2DTransposeAttrs) -> dict[str, OptionValue]:
    assert isinstance(attrs.padding, str)
    return {
        "padding": PADDING[attrs.padding],
        "strideH": attrs.strides[0],
        "strideW": attrs.strides[1],
        "fusedActivationFunction": FUSED[attrs.activation],
    }


def _output(
    rng: np.random.Generator, padding: Padding, data: Pair, kernel: Pair, strides: Pair
) -> Pair:
    """A height and width from which a convolution would make ``data``, often the usual ones."""
    covers = (1, 1) if padding == "SAME" else kernel
    usual = (strides[0] - 1, strides[1] - 1) if padding == "SAME" else (0, 0)
    more = usual if rng.random() < 0.4 else (int(rng.integers(s)) for s in strides)
    height, width = (
        (n - 1) * s + k + m for n, s, k, m in zip(data, strides, covers, more, strict=True)
    )
    return height, width


@needs_litert
@pytest.mark.parametrize("block", range(12))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        assert_equal(random_case(seed))


def of_int16(case: Case, bias: DType | None, *, declared: bool, largest: int) -> Case:
    """The same geometry with int16 data. LiteRT chooses the rounding by the declared bias type."""
    rng = np.random.default_rng(case.types[0].size)
    data, weight, *_ = case.types
    assert weight.quant is not None
    filters = weight.shape[0]
    x = ArrayType(
        data.shape, DType.INT16, Quant((float(np.float32(2.0 ** rng.uniform(-15, -5))),), (0,))
    )
    types, arrays = [x, weight], [rng.integers(-32768, 32768, data.shape).astype(np.int16)]
    arrays.append(case.arrays[1])
    typical = x.scale * max(weight.quant.scale) * 40 * float(np.prod(weight.shape[1:])) ** 0.5
    if bias:
        types.append(ArrayType((filters,), bias))
        arrays.append(rng.integers(-largest, largest, filters).astype(bias.numpy))
        typical = max(typical, x.scale * max(weight.quant.scale) * largest / 30000)
    options = dict(case.options)
    if declared:
        code = tflite.TensorType.INT32 if bias is not DType.INT64 else tflite.TensorType.INT64
        options["quantizedBiasType"] = code
    is_narrow = declared and bias is not DType.INT64
    assert isinstance(case.attrs, Conv2DTransposeAttrs)
    return replace(
        case,
        attrs=replace(case.attrs, rounding=Rounding.DOUBLE if is_narrow else Rounding.REDUCED),
        types=types,
        arrays=arrays,
        output_quant=Quant((float(np.float32(typical * 2.0 ** rng.uniform(-4, 8))),), (0,)),
        options=options,
        constants=range(1, len(types)),
        order=("shape", "input1", "input0", "input2")[: len(types) + 1],
        version=5,
        output_dtype=DType.INT16,
    )


@needs_litert
@pytest.mark.parametrize(
    ("bias", "declared", "largest"),
    [
        (None, False, 0),
        (None, True, 0),
        (DType.INT32, True, 2**24),
        (DType.INT32, True, 2**31),
        (DType.INT64, False, 2**24),
        (DType.INT64, True, 2**46),
    ],
)
def test_int16_equals_litert(bias: DType | None, declared: bool, largest: int) -> None:
    for seed in range(60):
        assert_equal(of_int16(random_case(seed), bias, declared=declared, largest=largest))


@needs_litert
def test_float_equals_litert() -> None:
    for seed in range(100):
        case = random_case(seed)
        rng = np.random.default_rng(seed)
        types = [ArrayType(t.shape, DType.FLOAT32) for t in case.types]
        arrays = [rng.normal(0, 1, t.shape).astype(np.float32) for t in types]
        assert_equal(
            replace(case, types=types, arrays=arrays, output_quant=None, output_dtype=DType.FLOAT32)
        )


def counts(data: Pair, kernel: Pair, strides: Pair, pads: Pads, size: Pair) -> list[list[int]]:
    """The number of products in each output. All values are ones."""
    types = (
        activation_type((1, *data, 1), 1, 0),
        ArrayType((1, *kernel, 1), DType.INT8, Quant((1.0,), (0,))),
    )
    attrs = Conv2DTransposeAttrs(strides, pads, size, Activation.NONE, Rounding.DOUBLE)
    arrays = tuple(np.ones(t.shape, np.int8) for t in types)
    case = Case(CONV2D_TRANSPOSE.name, attrs, types, arrays, Quant((1.0,), (0,)), "", "")
    rows: list[list[int]] = by_reference(case)[0, :, :, 0].tolist()
    return rows


def test_pixels_overlap_where_the_kernel_is_over_the_stride() -> None:
    assert counts((1, 3), (1, 3), (1, 2), (0, 0, 0, 0), (1, 7)) == [[1, 1, 2, 1, 2, 1, 1]]


def test_padding_is_cut_off_and_zeros_follow_the_full_result() -> None:
    found = counts((2, 2), (2, 1), (2, 2), (1, 0, 0, 0), (3, 4))
    assert found == [[1, 0, 1, 0]] * 3


def test_weights_are_not_flipped() -> None:
    attrs = Conv2DTransposeAttrs((1, 1), "VALID", (1, 3), Activation.NONE, Rounding.DOUBLE)
    types = (
        activation_type((1, 1, 1, 1), 1, 0),
        ArrayType((1, 1, 3, 1), DType.INT8, Quant((1.0,), (0,))),
    )
    arrays = (np.array([[[[2]]]], np.int8), np.arange(3, dtype=np.int8).reshape(1, 1, 3, 1))
    case = Case(CONV2D_TRANSPOSE.name, attrs, types, arrays, Quant((1.0,), (0,)), "", "")
    assert by_reference(case).reshape(-1).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("changes", "data", "weight", "bias", "sentence"),
    [
        ({}, (2, 2, 1), (1, 1, 1, 1), None, "must have 4 dimensions"),
        ({}, (1, 2, 2, 3), (1, 1, 1, 2), None, "the filters have 2 channels, the input 3"),
        ({}, (1, 2, 2, 1), (4, 1, 1, 1), (3,), "one value per filter, 4, is expected"),
        ({"strides": (0, 1)}, (1, 2, 2, 1), (1, 1, 1, 1), None, "must all be at least 1"),
        ({"size": (1, 0)}, (1, 2, 2, 1), (1, 1, 1, 1), None, "there is no output"),
        ({"size": (2, 3)}, (1, 2, 2, 1), (1, 1, 1, 1), None, r"padding VALID has \(2, 3\)"),
    ],
)
def test_impossible_shapes(
    changes: dict[str, Pair],
    data: tuple[int, ...],
    weight: tuple[int, ...],
    bias: tuple[int, ...] | None,
    sentence: str,
) -> None:
    pairs = {"strides": (1, 1), "size": (2, 2), **changes}
    attrs = Conv2DTransposeAttrs(
        **pairs, padding="VALID", activation=Activation.NONE, rounding=Rounding.DOUBLE
    )
    types = [ArrayType(data, DType.INT8), ArrayType(weight, DType.INT8)]
    types += [ArrayType(bias, DType.INT32)] if bias else []
    with pytest.raises(ValueError, match=sentence):
        CONV2D_TRANSPOSE.infer(attrs, types)


def test_inputs_are_counted() -> None:
    with pytest.raises(ValueError, match="has 1 inputs; data, weight and a bias are expected"):
        CONV2D_TRANSPOSE.infer(random_case(0).attrs, [ArrayType((1, 1, 1, 1), DType.INT8)])


@pytest.mark.parametrize(("depth", "fits"), [(65793, True), (65794, False)])
@pytest.mark.parametrize("stride", [1, 2])
def test_the_accumulator_must_not_overflow(stride: int, depth: int, fits: bool) -> None:
    """The limit depends on the number of taps that reach one output."""
    quant = Quant((1.0,), (0,))
    attrs = Conv2DTransposeAttrs((stride, stride), (0, 0), (4, 4), Activation.NONE, Rounding.DOUBLE)
    types = [
        ArrayType((1, 2, 2, depth), DType.INT8, Quant((1.0,), (-128,))),
        ArrayType((1, stride, stride, depth), DType.INT8, quant),
    ]
    output = ArrayType((1, 2 * stride, 2 * stride, 1), DType.INT8, Quant((2.0,), (0,)))
    found = CONV2D_TRANSPOSE.check(attrs, types, [output])
    assert (found is None) is fits
    assert fits or "int32 accumulator" in str(found)


def test_name_parts() -> None:
    attrs = Conv2DTransposeAttrs((1, 1), "VALID", (1, 1), Activation.RELU, Rounding.DOUBLE)
    assert CONV2D_TRANSPOSE.parts(attrs, 3) == ("nn_conv2d_transpose", "nn_bias_add", "clip")
