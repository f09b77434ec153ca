"""Operators of one tensor, and PRELU: what the TFLite frontend makes of them."""

from __future__ import annotations

import math

import pytest

from microgen.base.errors import ModelError, UnsupportedError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.unary.activations import LeakyReluAttrs
from tests.frontends.tweaked import Network, activation, int8_constant, refusal, simple
from tests.support.tflite_builder import OperatorSpec

OPS = {
    "ABS": "abs",
    "ELU": "nn.elu",
    "EXP": "exp",
    "HARD_SWISH": "nn.hard_swish",
    "LOG": "log",
    "LOGISTIC": "sigmoid",
    "LOG_SOFTMAX": "nn.log_softmax",
    "NEG": "negative",
    "RSQRT": "rsqrt",
    "SQRT": "sqrt",
    "TANH": "tanh",
}
QUANTIZATION = {"LOGISTIC": (1 / 256, -128), "LOG_SOFTMAX": (1 / 16, 127)}

PRELU = Network(
    (
        activation("x", 1, 2, 2, 3),
        int8_constant("alpha", 1, 1, 3, scale=(0.1,)),
        activation("y", 1, 2, 2, 3),
    ),
    (OperatorSpec("PRELU", ("x", "alpha"), ("y",)),),
)


def _unary(code: str) -> Network:
    scale, zero_point = QUANTIZATION.get(code, (0.5, 3))
    network = simple(code, (2, 3), (2, 3))
    return network.with_tensor("y", scale=(scale,), zero_point=(zero_point,))


def _leaky_relu(alpha: float) -> Network:
    return simple("LEAKY_RELU", (4,), (4,), options_type="LeakyReluOptions", alpha=alpha)


@pytest.mark.parametrize("code", OPS)
def test_an_operator_becomes_one_node_without_options(code: str) -> None:
    (node,) = _unary(code).load().nodes
    assert (node.op, node.inputs, node.outputs) == (OPS[code], ("x",), ("y",))
    assert node.attrs == registry()[node.op].attrs()


INT16_SCALES = {"LOGISTIC": 2.0**-15, "TANH": 2.0**-15}
NOT_INT16 = {"ELU", "HARD_SWISH", "LOG_SOFTMAX", "RELU_N1_TO_1"}
CODES = [*OPS, "RELU", "RELU6", "RELU_N1_TO_1"]


def _of(dtype: str, code: str) -> Network:
    network = simple(code, (2, 3), (2, 3))
    for name in ("x", "y"):
        scale = INT16_SCALES.get(code, 0.001) if name == "y" else 0.001
        quant = ((scale,), (0,)) if dtype == "int16" else ((), ())
        network = network.with_tensor(name, dtype=dtype, scale=quant[0], zero_point=quant[1])
    return network


@pytest.mark.parametrize("code", CODES)
def test_floats_are_taken_by_all(code: str) -> None:
    graph = _of("float32", code).load()
    assert {graph.types[name] for name in ("x", "y")} == {ArrayType((2, 3), DType.FLOAT32)}


@pytest.mark.parametrize("code", sorted({*CODES} - NOT_INT16))
def test_int16_is_taken_by_what_litert_takes_it(code: str) -> None:
    assert _of("int16", code).load().types["y"].dtype is DType.INT16


@pytest.mark.parametrize("code", sorted(NOT_INT16))
def test_int16_is_refused_with_what_is_supported(code: str) -> None:
    assert "the input is int16[2,3]; it must be int8 or float32" in refusal(
        _of("int16", code), ModelError
    )


@pytest.mark.parametrize("code", CODES)
def test_other_dtypes_are_refused_with_what_is_supported(code: str) -> None:
    assert "the input is int64[2,3]; it must be int8 or " in refusal(_of("int64", code), ModelError)


def test_softmax_takes_floats_and_int16() -> None:
    for dtype in ("float32", "int16"):
        network = simple("SOFTMAX", (2, 3), (2, 3), options_type="SoftmaxOptions", beta=1.0)
        scales = {"x": 0.001, "y": 2.0**-15}
        for name, scale in scales.items():
            quant = ((scale,), (0,)) if dtype == "int16" else ((), ())
            network = network.with_tensor(name, dtype=dtype, scale=quant[0], zero_point=quant[1])
        assert network.load().types["y"].dtype.value == dtype


def test_leaky_relu_reads_alpha() -> None:
    (node,) = _leaky_relu(0.25).load().nodes
    assert (node.op, node.attrs) == ("nn.leaky_relu", LeakyReluAttrs(0.25))


@pytest.mark.parametrize("alpha", [math.inf, math.nan])
def test_alpha_must_be_finite(alpha: float) -> None:
    assert "a finite value is expected" in refusal(_leaky_relu(alpha), ModelError)


def test_leaky_relu_needs_its_options() -> None:
    network = simple("LEAKY_RELU", (4,), (4,))
    assert "has no LeakyReluOptions" in refusal(network, ModelError)


def test_prelu_keeps_alpha_as_a_constant() -> None:
    graph = PRELU.load()
    (node,) = graph.nodes
    assert (node.op, node.inputs) == ("nn.prelu", ("x", "alpha"))
    assert graph.constants["alpha"].shape == (1, 1, 3)


def test_alpha_with_a_scale_per_channel_is_refused() -> None:
    network = PRELU.with_tensor("alpha", scale=(0.1, 0.2, 0.3), zero_point=(0, 0, 0), axis=2)
    assert "which has a scale per channel" in refusal(network, UnsupportedError)


def test_what_an_op_refuses_is_said_with_the_layers_name() -> None:
    network = simple("LOGISTIC", (4,), (4,))
    for name in ("x", "y"):
        network = network.with_tensor(name, dtype="int16", zero_point=(0,))
    assert refusal(network, ModelError) == (
        'm.tflite: layer "y" (LOGISTIC): the output\'s scale is 0.5; it must be 1/32768; '
        "convert the model with another quantization, such as int8"
    )


def test_micro_has_one_output_scale_of_sigmoids() -> None:
    network = simple("LOGISTIC", (4,), (4,))
    assert network.load().nodes[0].op == "sigmoid"
    with pytest.raises(UnsupportedError, match="which TensorFlow Lite Micro refuses"):
        network.load("tflm")
