"""Convolutions and dense layers whose weights have a zero point, as uint8 weights do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen.graph import ops
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.dense.dense import DenseAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.convolution import convolving


def _shifted(weight: c.Tensor, zero: int) -> c.Tensor:
    """The weight with one scale and a zero point."""
    assert weight.type.quant is not None
    quant = Quant(weight.type.quant.scale[:1], (zero,))
    return dataclasses.replace(weight, type=dataclasses.replace(weight.type, quant=quant))


def _zero(rng: np.random.Generator) -> int:
    return int(rng.choice([-128, 127, 1, int(rng.integers(2, 100))]))


def _window(seed: int, *, depthwise: bool) -> c.Case:
    rng = np.random.default_rng(seed)
    g = convolving.random_geometry(seed, depthwise=depthwise)
    g = dataclasses.replace(g, per_channel=False)
    x = c.int8(rng, g.data, c.random_quant(rng))
    w = _shifted(c.weight(rng, g.filters, None), _zero(rng))
    inputs = (x, w, c.bias(np.rint(rng.uniform(-9000, 9000, g.channels)))) if g.biased else (x, w)
    usual = x.type.scale * w.type.scale * 80 * float(np.sqrt(g.products))
    out = c.quant(usual * 2.0 ** rng.uniform(-3, 3), int(rng.integers(-128, 128)))
    return c.Case(f"{g.op} {seed}", g.op, g.attrs(Rounding.PRODUCT), inputs, out)


def _dense(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    rows, features, units = (int(n) for n in rng.integers(1, [4, 40, 20]))
    x = c.int8(rng, (rows, features), c.random_quant(rng))
    w = _shifted(c.weight(rng, (units, features), None), _zero(rng))
    b = c.bias(np.rint(rng.uniform(-9000, 9000, units)))
    activation = list(Activation)[int(rng.integers(4))]
    rounding = (Rounding.SINGLE, Rounding.DOUBLE)[seed % 2]
    attrs = DenseAttrs(activation, rounding, keep_num_dims=False)
    out = c.quant(x.type.scale * w.type.scale * 80 * float(np.sqrt(features)), 3)
    return c.Case(f"dense {seed}", "nn.dense", attrs, (x, w, b), out)


def _cases(count: int) -> list[c.Case]:
    windows = [_window(seed, depthwise=way) for seed in range(count) for way in (False, True)]
    return [*windows, *map(_dense, range(count))]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(_cases(60), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(_cases(6), tmp_path)


@pytest.mark.parametrize("case", _cases(4), ids=str)
def test_the_zero_point_is_subtracted(case: c.Case) -> None:
    """The reference equals the one of weights in int16 that are stored without a zero point."""
    data, weight, *bias = case.inputs
    zero = weight.type.zero_point
    plain = dataclasses.replace(weight.type, quant=Quant((weight.type.scale,), (0,)))
    arrays = (data.array, weight.array.astype(np.int16) - zero, *(b.array for b in bias))
    kinds = (data.type, plain, *(b.type for b in bias))
    operands = ops.base.Operands(arrays, kinds, (case.output_type,))
    (found,) = ops.registry()[case.op].reference(case.node.attrs, operands)
    np.testing.assert_array_equal(found, case.expected)


@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.UPWARD])
def test_only_weights_that_were_uint8_may_have_one(rounding: Rounding) -> None:
    g = convolving.Geometry(per_channel=False, biased=False)
    case = _window(3, depthwise=False)
    kinds = (ArrayType(g.data, DType.INT8, c.quant(0.1, 0)), case.inputs[1].type)
    kinds = (kinds[0], dataclasses.replace(kinds[1], shape=g.filters))
    output = ArrayType((1, 5, 6, 6), DType.INT8, c.quant(0.1, 0))
    sentence = ops.registry()[g.op].check(g.attrs(rounding), kinds, [output])
    assert "a zero point of the weight is" in str(sentence)


def test_kernels_without_an_offset_refuse_them() -> None:
    symbols = {call.kernel.symbol for case in _cases(6) for call in c.calls_of(case)}
    assert symbols == {
        "mg_conv2d_s8_offset",
        "mg_conv2d_s8_offset_dsp",
        "mg_conv2d_s8_offset_portable",
        "mg_depthwise_conv2d_s8_offset",
        "mg_dense_s8_offset",
        "mg_dense_s8_offset_twice",
    }
