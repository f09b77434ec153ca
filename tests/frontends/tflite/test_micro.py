"""The TFLite frontend under ``--numerics tflm``: int16 networks have TensorFlow Lite Micro's bytes,
computed here from its formulas in Python's integers, or are refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import tflite

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from tests.frontends.tweaked import Network, activation, conv2d, dense, integers, refused, simple
from tests.support.tflite_builder import OperatorSpec, TensorSpec

Rounded = Callable[[int, int, int], int]  # of a sum, a multiplier and a shift
INT32, INT64 = tflite.TensorType.INT32, tflite.TensorType.INT64
SCALES = (3.1e-4, 7.7e-3, 2.3e-4)  # of input, weight and output
ROWS, FEATURES, UNITS = 40, 9, 6


def wide(network: Network) -> Network:
    """The network with int16 activations."""
    for name in ("x", "y"):
        network = network.with_tensor(name, dtype="int16", zero_point=(0,))
    return network


def fully_connected(bias: str, each: bool = False, **options: int) -> Network:
    """FULLY_CONNECTED of int16 with a random weight, one scale or one per unit, and a bias of that
    dtype or none."""
    rng = np.random.default_rng(UNITS)
    weight = rng.integers(-127, 128, (UNITS, FEATURES))
    scales = tuple(SCALES[1] * (1 + i * each) for i in range(UNITS if each else 1))
    network = dense(ROWS, FEATURES, output=(ROWS, UNITS), **options)
    network = wide(network).with_tensor("x", scale=SCALES[:1]).with_tensor("y", scale=SCALES[2:])
    zeros = (0,) * len(scales)
    shape = (UNITS, FEATURES)
    network = network.with_tensor("w", shape=shape, data=weight, scale=scales, zero_point=zeros)
    if not bias:
        return network
    offsets = TensorSpec("b", (UNITS,), bias, rng.integers(-(10**6), 10**6, UNITS))
    network = network.replace(tensors=(*network.tensors, offsets))
    return network.with_operator(inputs=("x", "w", "b"))


def computed(graph: Graph) -> tuple[Array, Array]:
    """Random data, and what the graph makes of it."""
    data = np.random.default_rng(3).integers(-32768, 32768, (ROWS, FEATURES)).astype(np.int16)
    return data, evaluate(graph, {"x": data}, registry())["y"]


def fixed_point(scale: float) -> tuple[int, int]:
    """The scale as a Q31 multiplier and a shift to the left."""
    fraction, shift = math.frexp(scale)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    return (2**30, shift + 1) if multiplier == 2**31 else (multiplier, shift)


def once(total: int, multiplier: int, shift: int) -> int:
    """int64 sums: a multiplier of 16 bits, one rounding, ties upwards."""
    reduced = 0x7FFF if multiplier >= 0x7FFF0000 else (multiplier + 2**15) >> 16
    return (total * reduced + 2 ** (14 - shift)) >> (15 - shift)


def twice(total: int, multiplier: int, shift: int) -> int:
    """int32 sums: the high half of the doubled product is rounded, then the shift to the right."""
    product = total * 2 ** max(shift, 0) * multiplier
    high = _towards_zero(product + (2**30 if product >= 0 else 1 - 2**30), 2**31)
    right = max(-shift, 0)
    return _towards_zero(2 * high + (2**right if high >= 0 else -(2**right)), 2 ** (right + 1))


def _towards_zero(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize(
    ("bias", "options", "rounded"),
    [
        ("int64", {}, once),
        ("int64", {"quantizedBiasType": INT32}, once),
        ("int32", {}, twice),
        ("int32", {"quantizedBiasType": INT64}, twice),
        ("", {}, once),
        ("", {"quantizedBiasType": INT32}, twice),
    ],
)
def test_fully_connected_goes_by_the_bias_itself(
    bias: str, options: dict[str, int], rounded: Rounded, each: bool
) -> None:
    graph = fully_connected(bias, each, **options).load("tflm")
    data, found = computed(graph)
    weight = graph.constants["w"].astype(object)
    offsets = graph.constants["b"].astype(object) if bias else np.zeros(UNITS, object)
    sums = data.astype(object) @ weight.T + offsets
    expected = [[_scaled(sums[r][u], u, each, rounded) for u in range(UNITS)] for r in range(ROWS)]
    np.testing.assert_array_equal(found, np.array(expected))
    assert len(np.unique(found)) > ROWS


def _scaled(total: int, unit: int, each: bool, rounded: Rounded) -> int:
    data, weight, output = (np.float32(scale) for scale in SCALES)
    weight = np.float32(SCALES[1] * (1 + unit * each))
    product = float(data) * float(weight) if each else float(data * weight)
    value = rounded(total, *fixed_point(product / float(output)))
    return max(-32768, min(32767, value))


@pytest.mark.parametrize(("bias", "options"), [("int64", {}), ("int32", {"quantizedBiasType": 2})])
def test_the_profiles_differ(bias: str, options: dict[str, int]) -> None:
    network = fully_connected(bias, **options)
    (litert,) = network.load("litert").nodes
    assert litert.attrs.rounding is Rounding.REAL  # type: ignore[attr-defined]
    _, micro = computed(network.load("tflm"))
    _, other = computed(network.load("litert"))
    assert 0 < np.abs(micro.astype(int) - other).max() <= 2


@pytest.mark.parametrize(
    ("bias", "options", "expected"),
    [
        ("int32", {}, Rounding.DOUBLE),
        ("int32", {"quantizedBiasType": 9}, Rounding.DOUBLE),
        ("int64", {"quantizedBiasType": INT32}, Rounding.REDUCED),
    ],
)
def test_convolutions_go_by_the_bias_itself(
    bias: str, options: dict[str, int], expected: Rounding
) -> None:
    (node,) = wide(conv2d(**options)).with_tensor("b", dtype=bias).load("tflm").nodes
    assert node.attrs.rounding is expected  # type: ignore[attr-defined]


def transposed(bias: str) -> Network:
    convolution = wide(conv2d(quantizedBiasType=INT32)).with_tensor("b", dtype=bias)
    shape = TensorSpec("s", (4,), "int32", np.array([1, 6, 6, 3]))
    network = convolution.replace(tensors=(*convolution.tensors, shape))
    network = network.with_tensor("y", shape=(1, 6, 6, 3))
    return network.with_operator(
        code="TRANSPOSE_CONV", inputs=("s", "w", "x", "b"), options_type="TransposeConvOptions"
    )


def test_transposed_convolutions_have_int64_biases_whatever_is_declared() -> None:
    (node,) = transposed("int64").load("tflm").nodes
    assert node.attrs.rounding is Rounding.REDUCED  # type: ignore[attr-defined]
    refusal = refused(transposed("int32"), ModelError, profile="tflm")
    assert "the bias is int32[3]; it must be int64" in str(refusal)


def binary(code: str, **options: int) -> Network:
    """An operator of two int16 tensors with scales that are powers of two."""
    tensors = [activation(name, 4, scale=0.25, zero_point=0) for name in ("x", "z", "y")]
    operator = OperatorSpec(code, ("x", "z"), ("y",), f"{code.capitalize()}Options", options)
    network = Network(tuple(tensors), (operator,), ("x", "z"))
    return wide(network).with_tensor("z", dtype="int16")


@pytest.mark.parametrize(
    ("code", "litert", "tflm"),
    [
        ("ADD", AddAttrs(Activation.NONE, by_shifts=True), AddAttrs(Activation.NONE)),
        (
            "SUB",
            SubtractAttrs(Activation.NONE, by_shifts=True),
            SubtractAttrs(Activation.NONE, float32_scales=True),
        ),
        (
            "MUL",
            MultiplyAttrs(Activation.NONE),
            MultiplyAttrs(Activation.NONE, double_scales=True),
        ),
    ],
)
def test_scales_of_elementwise_operators(code: str, litert: object, tflm: object) -> None:
    network = binary(code) if code == "MUL" else binary(code, potScaleInt16=1)
    for profile, attrs in (("litert", litert), ("tflm", tflm)):
        (node,) = network.load(profile).nodes
        assert node.attrs == attrs


def test_products_are_scaled_in_double() -> None:
    """Scales of which the product, rounded to float32, moves results that are all but ties."""
    network = binary("MUL").replace(outputs=("y",))
    scales = {"x": 0.1, "z": 0.7, "y": 2294.3}
    for name, scale in scales.items():
        network = network.with_tensor(name, scale=(scale,), shape=(65536,))
    values = np.arange(-32768, 32768).astype(np.int16)
    fed = {"x": values, "z": np.full(65536, 32767, np.int16)}
    found = {p: evaluate(network.load(p), fed, registry())["y"] for p in ("litert", "tflm")}
    left, right, out = (float(np.float32(scale)) for scale in scales.values())
    parts = fixed_point(left * right / out)
    expected = [max(-32768, min(32767, twice(int(v) * 32767, *parts))) for v in values]
    np.testing.assert_array_equal(found["tflm"], expected)
    assert np.any(found["tflm"] != found["litert"])


@pytest.mark.parametrize("code", ["EXP", "LOG", "NEG", "RSQRT", "SQRT"])
def test_int16_operators_whose_bytes_are_not_known_are_refused(code: str) -> None:
    network = wide(simple(code, (1, 4), (1, 4)))
    network = network.with_tensor("x", scale=(2.0**-12,))
    said = str(refused(network, UnsupportedError, profile="tflm"))
    assert said == (
        f"m.tflite: has int16 operators that --numerics tflm cannot compute exactly: {code} in "
        '"y"; generate with --numerics litert'
    )
    network.load("litert")
    simple(code, (1, 4), (1, 4)).load("tflm")  # int8


def test_an_int16_comparison_with_multipliers_that_micro_never_sets_is_refused() -> None:
    numbers = integers("z", [1, 2, 3, 4], "int16")
    network = simple("GREATER", (1, 4), (1, 4), numbers).with_tensor("y", dtype="bool")
    for name in ("x", "z"):
        network = network.with_tensor(name, dtype="int16", scale=(0.5,), zero_point=(0,))
    said = str(refused(network, UnsupportedError, profile="tflm"))
    assert 'has int16 operators that --numerics tflm cannot compute exactly: GREATER in "y"' in said
    network.load("litert")
    network.with_operator(code="LESS").load("tflm")  # compared as it is stored


def test_relu6_that_would_have_to_rescale_is_refused() -> None:
    network = wide(simple("RELU6", (1, 4), (1, 4)))
    network.load("tflm")
    rescaling = network.with_tensor("y", scale=(0.25,))
    rescaling.load("litert")
    said = str(refused(rescaling, UnsupportedError, profile="tflm"))
    assert 'layer "y" (RELU6): has another scale or zero point than its input' in said
