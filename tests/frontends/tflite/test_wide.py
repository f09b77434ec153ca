"""The TFLite frontend: convolutions of int16 and float32."""

from __future__ import annotations

import pytest
import tflite

from microgen.base.errors import ModelError
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ops import registry
from tests.frontends.tweaked import Network, conv2d, depthwise, refusal

INT32, INT64 = tflite.TensorType.INT32, tflite.TensorType.INT64


def int16(network: Network, bias: str = "") -> Network:
    """The network with int16 activations, and its bias of that dtype."""
    for name in ("x", "y"):
        network = network.with_tensor(name, dtype="int16", zero_point=(0,))
    return network.with_tensor("b", dtype=bias) if bias else network


def rounding(network: Network, profile: str = "litert") -> Rounding:
    graph = network.load(profile)
    (node,) = graph.nodes
    output = (graph.types["y"],)
    assert registry()[node.op].check(node.attrs, graph.type_of(node.inputs), output) is None
    found = node.attrs.rounding  # type: ignore[attr-defined]
    assert isinstance(found, Rounding)
    return found


@pytest.mark.parametrize("profile", ["litert", "tflm"])
@pytest.mark.parametrize(
    ("bias", "options", "expected"),
    [
        ("int64", {}, Rounding.REDUCED),
        ("int64", {"quantizedBiasType": INT64}, Rounding.REDUCED),
        ("int32", {"quantizedBiasType": INT32}, Rounding.DOUBLE),
    ],
)
def test_the_declared_bias_decides_how_int16_is_rounded(
    bias: str, options: dict[str, int], expected: Rounding, profile: str
) -> None:
    assert rounding(int16(conv2d(**options), bias), profile) is expected


def test_int16_depthwise_has_int64_accumulators() -> None:
    assert rounding(int16(depthwise())) is Rounding.REDUCED


@pytest.mark.parametrize("code", [INT32, INT64])
def test_the_declared_bias_means_nothing_to_int8(code: int) -> None:
    assert rounding(conv2d(quantizedBiasType=code)) is Rounding.DOUBLE


@pytest.mark.parametrize(
    ("bias", "options", "sentence"),
    [
        ("int32", {}, "the bias is int32[3]; it must be int64"),
        ("int64", {"quantizedBiasType": INT32}, "the bias is int64[3]; it must be int32"),
    ],
)
def test_a_bias_that_is_not_the_declared_one_is_refused(
    bias: str, options: dict[str, int], sentence: str
) -> None:
    assert sentence in refusal(int16(conv2d(**options), bias), ModelError)


def test_a_declared_bias_of_another_type_is_refused() -> None:
    said = refusal(int16(conv2d(quantizedBiasType=9), "int64"), ModelError)
    assert "declares biases of type 9; int32 (2) or int64 (4) is expected" in said


def test_float32_throughout() -> None:
    network = conv2d()
    for name in ("x", "y", "w", "b"):
        network = network.with_tensor(name, dtype="float32", scale=(), zero_point=())
    assert rounding(network) is Rounding.DOUBLE
