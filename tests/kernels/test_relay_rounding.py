"""Convolutions and dense layers that round like Relay's qnn.requantize, or leave their sums as
int32.

References are compared with TVM's definitions, and kernels with the references.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import ArrayType, DType, Quant
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.kernels import base
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import tvm_oracle
from tests.kernels.convolution import test_conv2d_transpose
from tests.kernels.convolution.convolving import Geometry, random_geometry
from tests.kernels.quantization.requantizing import is_for_any_rounding
from tests.kernels.quantization.test_rescale import ROUNDINGS

OPS = ("nn.conv2d", "nn.depthwise_conv2d", "nn.dense")
KEPT = "kept"  # the sums are the output
WAYS = ("UPWARD", "TONEAREST", KEPT)
NAMES = {name: rounding for rounding, name in ROUNDINGS.items()}


def _weight(rng: np.random.Generator, shape: tuple[int, ...], axis: int, way: str) -> c.Tensor:
    """A weight with the scales of the sums.

    They are powers of two (whose products have ties), or any, or one per tensor.
    """
    count = shape[axis] if rng.integers(2) else 1
    scales = 2.0 ** (
        rng.integers(-13, -2, count) if rng.integers(2) else rng.uniform(-13, 0, count)
    )
    if way == KEPT:
        scales = np.ones(1)
    quant = Quant(tuple(map(float, np.float32(scales))), (0,) * len(scales), axis)
    if len(scales) == 1:
        quant = dataclasses.replace(quant, axis=None)
    values = rng.integers(-128, 128, shape).astype(np.int8)
    return c.Tensor(ArrayType(shape, DType.INT8, quant), values, is_constant=True)


def _inputs(
    rng: np.random.Generator, data: tuple[int, ...], weight: tuple[int, ...], axis: int, way: str
) -> tuple[c.Tensor, ...]:
    x = c.int8(rng, data, c.random_quant(rng))
    bias = c.Tensor(
        ArrayType((weight[axis],), DType.INT32),
        rng.integers(-9000, 9000, weight[axis]).astype(np.int32),
        is_constant=True,
    )
    found = (x, _weight(rng, weight, axis, way))
    return (*found, bias) if rng.integers(2) else found


def _case(name: str, op: str, attrs: object, inputs: tuple[c.Tensor, ...], seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    output = c.quant(1.0, int(rng.integers(-128, 128)))
    if WAYS[seed % 3] == KEPT:
        return c.Case(name, op, attrs, inputs, None, DType.INT32)  # type: ignore[arg-type]
    return c.Case(name, op, attrs, inputs, output)  # type: ignore[arg-type]


def _rounding(seed: int) -> Rounding:
    return NAMES.get(WAYS[seed % 3], Rounding.UPWARD)


# Convolutions for which there are kernels of their own
SPECIAL = (
    Geometry(data=(1, 8, 8, 8), filters=(8, 3, 3, 8)),
    Geometry(data=(1, 9, 8, 4), filters=(1, 3, 3, 4), multiplier=1),
    Geometry(data=(1, 9, 8, 4), filters=(1, 3, 3, 4), multiplier=1, strides=(2, 2)),
    Geometry(data=(1, 9, 8, 4), filters=(1, 3, 3, 4), multiplier=1, padding="VALID"),
)


def special(seed: int) -> c.Case:
    """A case of one of these."""
    return _convolution(seed, SPECIAL[seed // 3 % len(SPECIAL)])


def convolution(seed: int) -> c.Case:
    """A case of an ordinary, grouped, pointwise or depthwise convolution."""
    g = random_geometry(seed, depthwise=seed % 2 == 0)
    if seed % 5 == 0 and not g.multiplier:
        g = dataclasses.replace(
            g, data=(*g.data[:3], 6), filters=(5, 1, 1, 6), strides=(1, 1), padding="VALID"
        )
    return _convolution(seed, g)


def _convolution(seed: int, g: Geometry) -> c.Case:
    g = dataclasses.replace(g, activation=Activation.NONE) if WAYS[seed % 3] == KEPT else g
    rng = np.random.default_rng(seed)
    inputs = _inputs(rng, g.data, g.filters, g.axis, WAYS[seed % 3])
    return _case(f"convolution {seed}", g.op, g.attrs(_rounding(seed)), inputs, seed)


def dense(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    rows, depth, units = (int(n) for n in rng.integers(1, 12, 3))
    inputs = _inputs(rng, (rows, depth), (units, depth), 0, WAYS[seed % 3])
    attrs = DenseAttrs(Activation.NONE, _rounding(seed), keep_num_dims=False)
    return _case(f"dense {seed}", "nn.dense", attrs, inputs, seed)


def near_limits(seed: int) -> c.Case:
    """Sums up to 2**30, the limit of the specialised kernels.

    Scales are just below 1/2, or so small that only the sign matters.
    """
    rng = np.random.default_rng(seed)
    x = c.int8(rng, (1, 2, 3, 4), c.quant(1.0, 127))
    scales = np.float32([0.49999997, 2.0**-23, 2.0**-31, 2.0**-24 * 1.5, 2.0**-30, 1e-12, 0.25])
    values = rng.integers(-128, 128, (7, 1, 1, 4)).astype(np.int8)
    kind = ArrayType(values.shape, DType.INT8, Quant(tuple(map(float, scales)), (0,) * 7, 0))
    most = 2**30 - 1 - np.abs(values.astype(np.int64)).sum(axis=(1, 2, 3)) * 255
    signs = rng.choice([-1, 1], 7)
    bias = c.Tensor(ArrayType((7,), DType.INT32), (most * signs).astype(np.int32), True)
    weight = c.Tensor(kind, values, is_constant=True)
    window = ((1, 1), (1, 1), "VALID")
    attrs = Conv2DAttrs(*window, Activation.NONE, list(ROUNDINGS)[seed % 2])  # type: ignore[arg-type]
    out = c.quant(1.0, int(rng.integers(-20, 20)))
    return c.Case(f"limits {seed}", "nn.conv2d", attrs, (x, weight, bias), out)


def test_sums_near_the_limits(tmp_path: Path) -> None:
    cases = [near_limits(seed) for seed in range(8)]
    assert "mg_conv2d_1x1_s8_upward_portable" in {k.kernel.symbol for k in c.calls_of(cases[0])}
    c.check(cases, tmp_path)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [make(seed) for seed in range(120) for make in (convolution, dense)]
    cases += map(special, range(3 * len(SPECIAL)))
    c.check(cases, tmp_path)
    reached = {call.kernel.symbol for case in cases for call in c.calls_of(case)}
    assert reached >= {symbol for symbol in _entries() if "upward" in symbol.split("_")}
    plain = {symbol for symbol in _entries() if "_offset" not in symbol}
    assert reached >= {symbol for symbol in plain if symbol.endswith(("_nearest", "_s32"))}
    assert reached >= {"mg_dense_s8", "mg_dense_s8_dsp", "mg_dense_s8_portable"}
    assert not {symbol for symbol in reached if "twice" in symbol}


def _entries() -> set[str]:
    """The kernels for int8 data that the host can run."""
    found = [kernel for op in OPS for kernel in kernels.registry()[op]]
    return {k.symbol for k in found if "_s8" in k.symbol and not k.needs & base.MVE}


def _single(case: c.Case) -> c.Case:
    """The case with LiteRT's single rounding, in scales of data and weights."""
    attrs = dataclasses.replace(case.attrs, rounding=Rounding.SINGLE)  # type: ignore[type-var]
    return dataclasses.replace(case, attrs=attrs, output_quant=c.quant(9.0, 3))


def test_convolutions_that_round_once_as_dense_layers_do(tmp_path: Path) -> None:
    cases = [_single(convolution(seed)) for seed in range(24) if WAYS[seed % 3] != KEPT]
    transposed = [_single(case) for case in test_conv2d_transpose.CORNERS[:4]]
    c.check([*cases, *transposed], tmp_path)
    reached = {call.kernel.symbol for case in cases for call in c.calls_of(case)}
    named = {symbol for symbol in reached if not is_for_any_rounding(symbol)}
    upward = {symbol for symbol in named if "upward" in symbol}
    assert named - upward == {"mg_conv2d_s8_nearest", "mg_depthwise_conv2d_s8_nearest"}
    # If their multipliers move all ties away from zero.
    assert upward >= {"mg_conv2d_s8_upward_dsp", "mg_conv2d_1x1_s8_upward_portable"}


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([make(s) for s in range(12) for make in (convolution, dense)], tmp_path)


@pytest.mark.parametrize("seed", range(30))
def test_dense_equals_the_definition(seed: int) -> None:
    case = dense(seed)
    data, weight, *bias = (t.array.astype(np.int64) for t in case.inputs)
    of = case.inputs[1].type.quant
    assert of is not None
    sums = (data - case.inputs[0].type.zero_point) @ weight.T + (bias[0] if bias else 0)
    if WAYS[seed % 3] != KEPT:
        output = (1.0, case.output_type.zero_point)
        sums = tvm_oracle.requantize(sums, of.scale, 0, output, WAYS[seed % 3], "int8", 1)
    np.testing.assert_array_equal(case.expected, sums)


@pytest.mark.parametrize("way", ["UPWARD", "TONEAREST"])
def test_convolution_equals_the_definition(way: str) -> None:
    rng = np.random.default_rng(5)
    x = c.int8(rng, (2, 6, 7, 5), c.quant(3.0, -17))
    scales = tuple(float(s) for s in np.float32(2.0 ** -np.array([6.0, 9.5, 11, 12])))
    values = rng.integers(-128, 128, (4, 3, 2, 5)).astype(np.int8)
    kind = ArrayType(values.shape, DType.INT8, Quant(scales, (0,) * 4, 0))
    attrs = Conv2DAttrs((2, 1), (1, 1), (1, 0, 2, 1), Activation.NONE, NAMES[way])
    inputs = (x, c.Tensor(kind, values, is_constant=True))
    case = c.Case(way, "nn.conv2d", attrs, inputs, c.quant(0.5, 3))
    sums = tvm_oracle.conv2d(x.array, values, -17, (2, 1), (1, 0, 2, 1))
    expected = tvm_oracle.requantize(sums, scales, 0, (0.5, 3), way, "int8", 3)
    np.testing.assert_array_equal(case.expected, expected)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("rounding", [Rounding.UPWARD, Rounding.DOUBLE])
def test_no_kernel_of_another_rounding_takes_a_node(op: str, rounding: Rounding) -> None:
    rng = np.random.default_rng(0)
    weight = {"nn.conv2d": (2, 1, 1, 3), "nn.depthwise_conv2d": (1, 1, 1, 3), "nn.dense": (2, 3)}
    axis, data = (3 if "depth" in op else 0), ((1, 3) if "dense" in op else (1, 2, 2, 3))
    window = ((1, 1), (1, 1), "VALID")
    attrs = {
        "nn.conv2d": Conv2DAttrs(*window, Activation.NONE, rounding),  # type: ignore[arg-type]
        "nn.depthwise_conv2d": DepthwiseConv2DAttrs(*window, 1, Activation.NONE, rounding),  # type: ignore[arg-type]
        "nn.dense": DenseAttrs(Activation.NONE, rounding, keep_num_dims=False),
    }[op]
    inputs = _inputs(rng, data, weight[op], axis, "UPWARD")
    case = c.Case("small", op, attrs, inputs, c.quant(1e3, 0))
    taken = [k.symbol for k in kernels.registry()[op] if not k.refusal(case.node, case.graph)]
    assert taken
    is_relay = rounding is Rounding.UPWARD
    named = [symbol for symbol in taken if not is_for_any_rounding(symbol)]
    assert named
    assert all(("upward" in symbol) == is_relay for symbol in named), taken
