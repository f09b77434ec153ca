from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.reductions.reduction import ALL, MEAN, SUM, AllAttrs, MeanAttrs, SumAttrs
from tests.kernels.conformance.conformance import quant
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_litert,
    by_reference,
    needs_litert,
)
from tests.kernels.reductions.reductions import Axes, litert_case


def _all_case(seed: int) -> Case:
    case = litert_case(seed, ALL.name, "REDUCE_ALL", AllAttrs, DType.INT32, unchanged=True)
    rng, shape = np.random.default_rng(seed), case.types[0].shape
    array = rng.random(shape) < 0.9
    kind = ArrayType(shape, DType.BOOL)
    return dataclasses.replace(
        case, types=[kind], arrays=[array], version=1, output_dtype=DType.BOOL
    )


@needs_litert
def test_all_equals_litert() -> None:
    for seed in range(60):
        assert_equal(_all_case(seed))


def test_no_axes_change_nothing() -> None:
    case = dataclasses.replace(_all_case(0), attrs=AllAttrs((), keep_dims=False))
    np.testing.assert_array_equal(by_reference(case), case.arrays[0])


def test_other_dtypes_are_refused() -> None:
    kind = ArrayType((2,), DType.INT32)
    found = ALL.check(AllAttrs((0,), keep_dims=True), [kind], [kind])
    assert found == "the input is int32[2]; it must be bool"


@needs_litert
@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_mean_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, MEAN.name, "MEAN", MeanAttrs, dtype, unchanged=False))


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16], ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("shift", [-30, -20, 5])
def test_extreme_ratios_of_scales_equal_litert(shift: int, dtype: DType) -> None:
    for seed in range(10):
        case = litert_case(seed, MEAN.name, "MEAN", MeanAttrs, dtype, unchanged=False)
        output = quant(case.types[0].scale / 2.0**shift, 5 if dtype is DType.INT8 else 0)
        assert_equal(replace(case, output_quant=output))


def test_mean_constraints() -> None:
    data, attrs = activation_type((1000, 1000, 10), 1.0, 0), MeanAttrs((0, 1, 2), False)
    found = MEAN.check(attrs, [data], [activation_type((), 1.0, 0)])
    assert "10000000 values are summed, which may reach 2550000000" in str(found)
    tiny = activation_type((), 2.0**-40, 0)
    assert "output's scale is too small for the input's" in str(MEAN.check(attrs, [data], [tiny]))


def _as_litert(axes: Axes, keep_dims: bool) -> SumAttrs:
    return SumAttrs(axes, keep_dims, is_unsigned=True)


def _sum_case(seed: int) -> Case:
    return litert_case(seed, SUM.name, "SUM", _as_litert, unchanged=False, totals=True)


@needs_litert
@pytest.mark.parametrize("block", range(5))
def test_sum_equals_litert(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(_sum_case(seed))


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT32, DType.FLOAT32], ids=lambda dtype: dtype.value)
def test_plain_numbers_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(litert_case(seed, SUM.name, "SUM", SumAttrs, dtype, unchanged=True))


def _negative() -> Case:
    """A case of three times -2, in a scale that can represent -6."""
    data = activation_type((3,), 1.0, 0)
    case = replace(_sum_case(0), types=[data], arrays=[np.full(3, -2, np.int8)])
    assert data.quant is not None
    return replace(case, attrs=_as_litert((0,), True), output_quant=data.quant)


def _negative_for_litert() -> Case:
    axes = [replace(_sum_case(0).extra[0], data=np.zeros(1, np.int32), shape=(1,))]
    return replace(_negative(), extra=axes, options={"keepDims": True})


@needs_litert
def test_litert_takes_negative_bytes_for_unsigned() -> None:
    assert by_litert(_negative_for_litert()).tolist() == [-1]  # 3 * 254, saturated to 255


def test_signed_sums_are_sums() -> None:
    case = replace(_negative(), attrs=SumAttrs((0,), True))
    assert by_reference(case).tolist() == [-6]


def test_signed_sums_are_close_to_the_real_ones() -> None:
    for seed in range(100):
        case = _sum_case(seed)
        assert isinstance(case.attrs, SumAttrs)
        assert case.output_quant is not None
        attrs = replace(case.attrs, is_unsigned=False)
        (data,), (x,) = case.types, case.arrays
        real = (x.astype(float) - data.zero_point).sum(axis=attrs.axes, keepdims=attrs.keep_dims)
        stored = real * data.scale / case.output_quant.scale[0] + case.output_quant.zero_point[0]
        found = by_reference(replace(case, attrs=attrs))
        off = np.abs(found - np.clip(stored, -128, 127))
        assert off.max() <= 0.751  # there are two roundings: a half, and half of a half


def test_sum_constraints() -> None:
    data, attrs = activation_type((1000, 1000, 10), 1.0, 0), SumAttrs((0, 1, 2), False)
    found = SUM.check(attrs, [data], [activation_type((), 1.0, 0)])
    assert "10000000 values are summed, which may reach 2550000000" in str(found)
    tiny = activation_type((), 2.0**-40, 0)
    assert "output's scale is too small for the input's" in str(SUM.check(attrs, [data], [tiny]))


def test_int16_is_refused_where_it_is_taken_for_bytes() -> None:
    data = ArrayType((4,), DType.INT16, Quant((1.0,), (0,)))
    found = SUM.check(SumAttrs((0,), True, is_unsigned=True), [data], [data])
    assert "LiteRT sums the bytes of int16" in str(found)


def test_int16_sums_are_rounded_and_saturate() -> None:
    data = ArrayType((2, 2), DType.INT16, Quant((1.0,), (0,)))
    array = np.array([[32767, 5], [32767, -12]], np.int16)
    case = Case(SUM.name, SumAttrs((0,), False), [data], [array], Quant((1.0,), (0,)), "", "")
    case = replace(case, output_dtype=DType.INT16)
    assert by_reference(case).tolist() == [32767, -7]
    halves = replace(case, output_quant=Quant((2.0,), (0,)))
    assert by_reference(halves).tolist() == [32767, -3]  # -3.5; halves round upwards
