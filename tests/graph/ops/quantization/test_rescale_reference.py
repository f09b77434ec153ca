from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.quantization.rescale import RESCALE, RescaleAttrs
from tests.kernels.conformance import tvm_oracle
from tests.kernels.conformance.cases import Case, Tensor
from tests.kernels.quantization.test_rescale import ROUNDINGS, random_case


def by_tvm(case: Case) -> tvm_oracle.Array:
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
    data = Tensor(TensorType((7,), DType.INT8), values)
    attrs = RescaleAttrs(0, 1.0, 0, 2.0, 0, rounding)
    case = Case("halves", "qnn.rescale", attrs, (data,), None)
    assert case.expected.tolist() == expected == by_tvm(case).tolist()


def test_sums_with_zero_points_are_modulo_2_to_32() -> None:
    values = np.array([2**31 - 1, -(2**31)], np.int32)
    data = Tensor(TensorType((2,), DType.INT32), values)
    attrs = RescaleAttrs(0, 1.0, -1, 1.0, 1, Rounding.UPWARD)
    case = Case("ends", "qnn.rescale", attrs, (data,), None, DType.INT32)
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
def test_constraints(attrs: RescaleAttrs, sentence: str) -> None:
    kind = TensorType((3,), DType.INT8)
    assert sentence in str(RESCALE.check(attrs, [kind], [kind]))


def test_dtypes_and_scales() -> None:
    attrs = RescaleAttrs(1, None, 0, 1.0, 0, Rounding.UPWARD)
    data, scales = TensorType((3, 2), DType.INT8), TensorType((3,), DType.FLOAT32)
    with pytest.raises(ValueError, match="one for each of 2 is expected"):
        RESCALE.infer(attrs, [data, scales])
    with pytest.raises(ValueError, match="has 1 inputs; 2 are expected"):
        RESCALE.infer(attrs, [data])
    wide = TensorType((3, 2), DType.INT64)
    assert str(RESCALE.check(attrs, [wide, scales], [data])).startswith("the input is int64[3,2]")
