"""Layers with weights whose sums are rounded in float32, as ONNX specifies it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType
from microgen.graph.ops.convolution.conv2d_transpose import Conv2DTransposeAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.kernels import base
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import float32_cases
from tests.kernels.conformance.float32_cases import FLOAT, as_float
from tests.kernels.convolution import convolving, test_conv2d_transpose
from tests.kernels.dense import test_dense as denses
from tests.kernels.quantization.requantizing import is_for_any_rounding
from tests.support.sampling import seeds

_FLOAT_NAMES = {"float", "fpu"}
_OPS = ("nn.conv2d", "nn.depthwise_conv2d", "nn.conv2d_transpose", "nn.dense")


def _entries() -> set[str]:
    """The kernels for int8 data and weights that the host can run."""
    found = [kernel for op in _OPS for kernel in kernels.registry()[op]]
    return {k.symbol for k in found if "_s8" in k.symbol and not k.needs & base.MVE}


def test_int8_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [float32_cases.random_convolution(seed) for seed in seeds(60)]
    cases += [float32_cases.convolution(s, g) for s in range(2) for g in float32_cases.SPECIAL]
    cases += [float32_cases.convolution(s, float32_cases.SPECIAL[0], zero=s) for s in (-9, 77)]
    cases += [float32_cases.dense(seed, zero=9 * (seed % 3)) for seed in seeds(60)]
    cases += [float32_cases.near_ties(seed) for seed in range(3)]
    cases += map(as_float, test_conv2d_transpose.CORNERS)
    c.check(cases, tmp_path)
    reached = {call.kernel.symbol for case in cases for call in c.calls_of(case)}
    named = {symbol for symbol in reached if not is_for_any_rounding(symbol)}
    assert named == {symbol for symbol in named if _FLOAT_NAMES & set(symbol.split("_"))}
    assert reached >= {symbol for symbol in _entries() if _FLOAT_NAMES & set(symbol.split("_"))}


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    cases = [float32_cases.convolution(s, g) for s, g in enumerate(float32_cases.SPECIAL)]
    cases += [float32_cases.dense(seed, zero=9 * (seed % 2)) for seed in range(6)]
    c.check_inlined([*cases, *map(as_float, test_conv2d_transpose.CORNERS[:2])], tmp_path)


def _int16(seed: int) -> c.Case:
    g = convolving.random_geometry(seed, depthwise=seed % 2 == 0)
    return convolving.random_int16(seed, g, FLOAT)


def test_int16_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [_int16(seed) for seed in seeds(60)]
    cases += _WIDE_DENSE
    cases += [
        test_conv2d_transpose._int16(case, FLOAT) for case in test_conv2d_transpose.CORNERS[:4]
    ]
    c.check(cases, tmp_path)


_WIDE_DENSE = [
    denses._int16(
        seed,
        f"int16 {seed}",
        bias=(None, DType.INT64)[seed % 2],
        times_scale=2.0**exponent,
        rounding=FLOAT,
    )
    for seed, exponent in enumerate(range(-14, 14, 3))
]


@pytest.mark.parametrize("seed", range(12))
def test_the_reference_is_the_formula(seed: int) -> None:
    case = float32_cases.dense(seed, zero=7 * (seed % 2))
    assert isinstance(case.attrs, DenseAttrs)
    none = dataclasses.replace(case.attrs, activation=Activation.NONE)
    case = dataclasses.replace(case, attrs=none)
    data, weight, *bias = (t.array.astype(np.int64) for t in case.inputs)
    of, x = case.inputs[1].type.quant, case.inputs[0].type
    assert of is not None
    weights = weight - (of.zero_point[0] if len(of.scale) == 1 else 0)
    sums = (data - x.zero_point) @ weights.T + (bias[0] if bias else 0)
    scales = np.float32(x.scale) * np.float32(of.scale) / np.float32(case.output_type.scale)
    found = float32_cases.expected(sums, scales, case.output_type.zero_point)
    np.testing.assert_array_equal(case.expected, found)


def test_ties_go_to_even_also_after_the_product_was_rounded() -> None:
    case = float32_cases.near_ties(1)
    quant = case.inputs[1].type.quant
    assert quant is not None
    scales = np.float32(0.1) * np.float32(quant.scale) / np.float32(case.output_type.scale)
    exact = case.inputs[2].array * scales.astype(np.float64)
    differing = case.expected[0] != np.clip(np.rint(exact), -128, 127)
    assert differing.any()


def test_other_roundings_of_int8_are_named_in_the_refusal() -> None:
    case = float32_cases.dense(1)
    assert isinstance(case.attrs, DenseAttrs)
    with pytest.raises(
        ValueError, match=r"sums are rounded 'real'; it must be double or .*float32"
    ):
        dataclasses.replace(case, attrs=dataclasses.replace(case.attrs, rounding=Rounding.REAL))


def test_sums_with_zero_points_of_data_and_weights(tmp_path: Path) -> None:
    made = [float32_cases.random_convolution(5 * seed) for seed in range(12)]
    made += [float32_cases.dense(seed, zero=-30 * seed) for seed in range(4)]
    cases = [
        dataclasses.replace(_without_activation(case), output_quant=None, output_dtype=DType.INT32)
        for case in made
    ]
    c.check(cases, tmp_path)
    case = cases[-1]
    data, weight = (t.array.astype(np.int64) for t in case.inputs[:2])
    bias = case.inputs[2].array if len(case.inputs) > 2 else 0
    sums = (data - case.input_types[0].zero_point) @ (weight + 90).T + bias
    np.testing.assert_array_equal(case.expected, sums)


def _without_activation(case: c.Case) -> c.Case:
    assert isinstance(case.attrs, float32_cases.Weighted)
    assert not isinstance(case.attrs, Conv2DTransposeAttrs)
    return dataclasses.replace(
        case, attrs=dataclasses.replace(case.attrs, activation=Activation.NONE)
    )
