from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.quantization.rescale import (
    REQUANTIZE,
    RESCALE,
    RequantizeAttrs,
    RescaleAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import tvm_oracle
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
    random_activation,
)
from tests.kernels.quantization.test_rescale import (
    ROUNDINGS,
    WIDE,
    random_case,
    random_wide,
    requantize_random_values,
)


def by_tvm(case: c.Case) -> tvm_oracle.Array:
    attrs = case.attrs
    assert isinstance(attrs, RescaleAttrs)
    scales = [attrs.input_scale] if attrs.input_scale is not None else list(case.inputs[1].array)
    return tvm_oracle.requantize(
        case.inputs[0].array,
        scales,
        attrs.input_zero_point,
        (attrs.output_scale, attrs.output_zero_point),
        ROUNDINGS[attrs.rounding],
        case.output_dtype.value,
        attrs.axis,
    )


@pytest.mark.parametrize("block", range(4))
def test_equals_the_definition(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        case = random_case(seed)
        np.testing.assert_array_equal(case.expected, by_tvm(case), err_msg=str(case.attrs))


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        (Rounding.UPWARD, [-1, -1, 0, 0, 1, 1, 2]),
        (Rounding.NEAREST, [-2, -1, -1, 0, 1, 1, 2]),
    ],
)
def test_ties(rounding: Rounding, expected: list[int]) -> None:
    values = np.array([-3, -2, -1, 0, 1, 2, 3], np.int8)
    data = c.Tensor(ArrayType((7,), DType.INT8), values)
    attrs = RescaleAttrs(0, 1.0, 0, 2.0, 0, rounding)
    case = c.Case("halves", "qnn.rescale", attrs, (data,), None)
    assert case.expected.tolist() == expected == by_tvm(case).tolist()


def test_sums_with_zero_points_are_modulo_2_to_32() -> None:
    values = np.array([2**31 - 1, -(2**31)], np.int32)
    data = c.Tensor(ArrayType((2,), DType.INT32), values)
    attrs = RescaleAttrs(0, 1.0, -1, 1.0, 1, Rounding.UPWARD)
    case = c.Case("ends", "qnn.rescale", attrs, (data,), None, DType.INT32)
    assert case.expected.tolist() == [-(2**31) + 1, -(2**31) + 2]
    np.testing.assert_array_equal(case.expected, by_tvm(case))


@pytest.mark.parametrize(
    ("attrs", "sentence"),
    [
        (RescaleAttrs(0, 1.0, 0, 1.0, 0, Rounding.DOUBLE), "values are rounded 'double'"),
        (RescaleAttrs(0, 0.0, 0, 1.0, 0, Rounding.UPWARD), "a scale is 0; it must be positive"),
        (RescaleAttrs(0, 2.0**40, 0, 1.0, 0, Rounding.UPWARD), "the output's scale is too small"),
    ],
)
def test_rescale_constraints(attrs: RescaleAttrs, sentence: str) -> None:
    kind = ArrayType((3,), DType.INT8)
    assert sentence in str(RESCALE.check(attrs, [kind], [kind]))


def test_dtypes_and_scales() -> None:
    attrs = RescaleAttrs(1, None, 0, 1.0, 0, Rounding.UPWARD)
    data, scales = ArrayType((3, 2), DType.INT8), ArrayType((3,), DType.FLOAT32)
    with pytest.raises(ValueError, match="one for each of 2 is expected"):
        RESCALE.infer(attrs, [data, scales])
    with pytest.raises(ValueError, match="has 1 inputs; 2 are expected"):
        RESCALE.infer(attrs, [data])
    wide = ArrayType((3, 2), DType.INT64)
    assert str(RESCALE.check(attrs, [wide, scales], [data])).startswith("the input is int64[3,2]")


def _requantize_random_case(seed: int) -> Case:
    """A case of every int8 value. The output's scale is near or equal, and every third time far."""
    rng = np.random.default_rng(seed)
    data = random_activation(rng, (4, 64))
    exponent = rng.uniform(-28, 28) if seed % 3 == 0 else rng.choice([0, rng.uniform(-3, 3)])
    zero_point = int(rng.choice([data.zero_point, -128, 127, int(rng.integers(-128, 128))]))
    output = activation_type((), data.scale * 2.0**exponent, zero_point).quant
    assert output is not None
    values = rng.permutation(np.arange(-128, 128)).astype(np.int8).reshape(4, 64)
    return Case(
        REQUANTIZE.name, RequantizeAttrs(), [data], [values], output, "QUANTIZE", "", version=2
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(_requantize_random_case(seed))


def wide_case(seed: int) -> Case:
    """A case between int8, int16 and int32."""
    rng, (source, target) = np.random.default_rng(seed), WIDE[seed % len(WIDE)]
    data, output = random_wide(rng, source, target, 12)
    values = requantize_random_values(rng, source)
    if source is DType.INT32:
        values = values[np.abs(values * (data.scale[0] / output.scale[0])) < 2**30]
    kind = ArrayType(values.shape, source, data)
    return Case(
        REQUANTIZE.name,
        RequantizeAttrs(),
        [kind],
        [values],
        output,
        "QUANTIZE",
        "",
        version=2,
        output_dtype=target,
    )


@needs_litert
def test_other_widths_equal_litert() -> None:
    for seed in range(120):
        assert_equal(wide_case(seed))


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (DType.INT8, DType.INT32, "the output is int32[1]; it must be int8 or uint8 or int16"),
        (DType.INT32, DType.INT32, "the output is int32[1]; it must be int8 or int16"),
        (
            DType.INT64,
            DType.INT8,
            "the input is int64[1]; it must be int8 or uint8 or int16",
        ),
    ],
)
def test_pairs_that_litert_does_not_have(source: DType, target: DType, sentence: str) -> None:
    data, output = (ArrayType((1,), d, Quant((1.0,), (0,))) for d in (source, target))
    assert str(REQUANTIZE.check(RequantizeAttrs(), [data], [output])).startswith(sentence)


def test_requantize_constraints() -> None:
    data, tiny = activation_type((1,), 1.0, 0), activation_type((1,), 2.0**-40, 0)
    found = REQUANTIZE.check(RequantizeAttrs(), [data], [tiny])
    assert "output's scale is too small for the input's" in str(found)


def test_int16_to_int16_has_no_zero_points() -> None:
    data, output = (ArrayType((1,), DType.INT16, Quant((1.0,), (z,))) for z in (3, 0))
    found = REQUANTIZE.check(RequantizeAttrs(), [data], [output])
    assert found == "the input's zero point is 3; for int16 it must be 0"
