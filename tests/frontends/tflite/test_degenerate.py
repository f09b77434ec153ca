"""The TFLite frontend: scales of dead channels and dead layers, which are LiteRT's bit for bit or
are refused with what to do."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ModelError
from microgen.graph.ir.graph import Array
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.frontends.tweaked import (
    Network,
    conv2d,
    dense,
    depthwise,
    integers,
    refusal,
    simple,
)
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert

DENORMAL = 1e-40


def computed(network: Network, seed: int = 0) -> tuple[Array, Array]:
    """Random data, and the output."""
    graph = network.load()
    shape = graph.types["x"].shape
    data = np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
    return data, evaluate(graph, {"x": data}, registry())["y"]


def by_litert(network: Network, data: Array) -> Array:
    interpreter = interpreter_of(network.to_bytes())
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], data)
    interpreter.invoke()
    found: Array = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return found


def equals_litert(network: Network, seed: int = 0) -> Array:
    data, found = computed(network, seed)
    np.testing.assert_array_equal(found, by_litert(network, data))
    return found


@needs_litert
@pytest.mark.parametrize("scale", [0.0, DENORMAL])
def test_dead_channels_count_as_zero(scale: float) -> None:
    found = equals_litert(conv2d().with_tensor("w", scale=(scale, 0.5, 0.125)))
    assert np.all(found[..., 0] == 3)  # the output's zero point
    assert np.any(found[..., 1:] != 3)
    equals_litert(depthwise().with_tensor("w", scale=(0.25, 0.5, scale, 1.0)))
    assert np.all(equals_litert(dense(2, 4).with_tensor("w", scale=(scale,))) == 3)


@needs_litert
def test_a_bias_whose_scales_are_zero() -> None:
    scales = {"scale": (0.0, 0.25, 0.0625), "zero_point": (0, 0, 0)}
    equals_litert(conv2d().with_tensor("b", **scales))


@needs_litert
@pytest.mark.parametrize("network", [conv2d(), depthwise(), conv2d(fusedActivationFunction=1)])
@pytest.mark.parametrize("exponent", range(6, 30, 4))
def test_dead_layers_are_scaled_modulo_2_to_the_32(network: Network, exponent: int) -> None:
    """As in st_efficientnet, whose outputs that were 0 in calibration have scales of 7.8e-9."""
    shape = next(tensor.shape for tensor in network.tensors if tensor.name == "w")
    weight = np.random.default_rng(exponent).integers(-127, 128, shape)
    dead = network.with_tensor("y", scale=(2.0**-exponent,), zero_point=(-7,))
    equals_litert(dead.with_tensor("w", data=weight), seed=exponent)


def test_a_bias_has_the_axis_of_its_weights() -> None:
    """LiteRT 2.3.0 refuses it; TFLite Micro, whose person_detect.tflite is so, does not look."""
    quantized = {"scale": (0.125, 0.25, 0.0625), "zero_point": (0, 0, 0)}
    _, plain = computed(conv2d().with_tensor("b", **quantized, axis=0))
    _, found = computed(conv2d().with_tensor("b", **quantized, axis=3))
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("scale", [0.0, DENORMAL])
@pytest.mark.parametrize("name", ["x", "y"])
def test_what_is_computed_has_a_usual_scale(name: str, scale: float) -> None:
    said = refusal(simple("RELU", (1, 4), (1, 4)).with_tensor(name, scale=(scale,)), ModelError)
    assert said.endswith(
        "a positive, finite, normal float32 is expected; convert the model with samples on which "
        "this layer's outputs differ"
    )


RESHAPED = simple("RESHAPE", (1, 4), (4, 1), integers("s", [4, 1]))
POOLED = simple(
    "MAX_POOL_2D",
    (1, 2, 2, 2),
    (1, 1, 1, 2),
    options_type="Pool2DOptions",
    padding=1,
    strideH=2,
    strideW=2,
    filterHeight=2,
    filterWidth=2,
)


@needs_litert
@pytest.mark.parametrize("scale", [0.0, DENORMAL])
@pytest.mark.parametrize("network", [RESHAPED, POOLED])
def test_values_that_are_moved_may_have_any_scale(network: Network, scale: float) -> None:
    dead = network.with_tensor("x", scale=(scale,)).with_tensor("y", scale=(scale,))
    assert len(set(equals_litert(dead).flat)) > 1


@needs_litert
@pytest.mark.parametrize("scale", [0.0, DENORMAL])
@pytest.mark.parametrize("network", [conv2d(), depthwise(), dense(2, 4)])
def test_dead_inputs_count_as_zero(network: Network, scale: float) -> None:
    network = network.with_operator(inputs=("x", "w", *network.operators[0].inputs[2:]))
    dead = network.with_tensor("x", scale=(scale,))
    assert np.all(equals_litert(dead) == 3)  # the output's zero point
    if network.operators[0].code != "DEPTHWISE_CONV_2D":
        equals_litert(dead.with_options(fusedActivationFunction=1))


def test_a_bound_has_no_meaning_without_a_scale() -> None:
    clamped = POOLED.with_options(fusedActivationFunction=1)
    dead = clamped.with_tensor("x", scale=(0.0,)).with_tensor("y", scale=(0.0,))
    assert "the activation's bound 0 is out of the range" in refusal(dead, ModelError)


@pytest.mark.parametrize("scale", [-1.0, float("inf"), float("nan")])
def test_impossible_scales(scale: float) -> None:
    said = refusal(RESHAPED.with_tensor("x", scale=(scale,)), ModelError)
    assert "a positive, finite, normal float32 is expected" in said


def test_a_zero_scale_of_plain_numbers_means_nothing() -> None:
    """A converter wrote parameters for an index."""
    found = simple("ARG_MAX", (1, 4), (1,), integers("axis", 1), options_type="ArgMaxOptions")
    numbers = found.with_options(outputType=2).with_tensor("y", dtype="int32", zero_point=(0,))
    assert numbers.with_tensor("y", scale=(0.0,)).load().types["y"].quant is None


def test_scales_beyond_fixed_point_are_refused() -> None:
    said = refusal(conv2d().with_tensor("y", scale=(1e-30,)), ModelError)
    assert "the output's scale is too small: sums are scaled by 2.5e+29" in said
    assert "; it must be less than 2**30" in said
