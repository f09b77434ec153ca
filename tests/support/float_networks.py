"""Networks of floats whose correct results fail a tolerance relative to a tensor's range."""

from __future__ import annotations

from typing import Any

import numpy as np
import tflite

from tests.support.tflite_builder import OperatorSpec, OptionValue, TensorSpec, build_model

Array = np.ndarray[Any, np.dtype[Any]]
_RELU = {"fusedActivationFunction": tflite.ActivationFunctionType.RELU}
_RELU6 = {"fusedActivationFunction": tflite.ActivationFunctionType.RELU6}


class _Chain:
    """Layers one after the other. ``values`` is the last layer's output for a sample, or None."""

    def __init__(self, *shape: int) -> None:
        self.rng = np.random.default_rng(11)
        self.tensors = [TensorSpec("x", shape, "float32")]
        self.operators: list[OperatorSpec] = []

    def _constant(self, data: Array) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors.append(TensorSpec(name, data.shape, "float32", data.astype(np.float32)))
        return name

    def add(
        self,
        code: str,
        shape: tuple[int, ...],
        weights: tuple[Array, ...] = (),
        **options: OptionValue,
    ) -> None:
        """Adds a layer."""
        table = {"SOFTMAX": "SoftmaxOptions", "CONV_2D": "Conv2DOptions"}
        table |= {"DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions", "AVERAGE_POOL_2D": "Pool2DOptions"}
        table |= {"FULLY_CONNECTED": "FullyConnectedOptions"}
        name = f"layer{len(self.operators)}"
        inputs = [self.operators[-1].outputs[0] if self.operators else "x"]
        inputs += [self._constant(weight) for weight in weights]
        self.tensors.append(TensorSpec(name, shape, "float32"))
        self.operators.append(OperatorSpec(code, inputs, [name], table[code], options))

    def random(self, *shape: int, fan_in: int) -> Array:
        """Random weights that keep magnitudes."""
        return self.rng.normal(0, (2 / fan_in) ** 0.5, shape)

    def file(self) -> bytes:
        """The bytes of the .tflite file."""
        return build_model(self.tensors, self.operators, ["x"], list(self.operators[-1].outputs))


def sine() -> tuple[bytes, Array]:
    """A network 1 -> 16 -> 16 -> 1, and a sample whose output is near 0: large terms cancel."""
    chain, x = _Chain(1, 1), np.array([[0.7]], np.float32)
    values = x.astype(np.float64)
    for units, options in ((16, _RELU), (16, _RELU), (1, {})):
        weight = chain.random(units, values.shape[1], fan_in=values.shape[1]).astype(np.float32)
        sums = values @ weight.T.astype(np.float64)
        bias = np.zeros(units) if units > 1 else -sums[0] + 1e-6
        values = np.maximum(sums + bias, 0)
        chain.add("FULLY_CONNECTED", (1, units), (weight, bias), **options)
    return chain.file(), x


def mobile() -> tuple[bytes, Array]:
    """A small, badly conditioned MobileNet v1.

    It has thirteen pairs of depthwise and pointwise convolutions, RELU6, a pool, a classifier and
    softmax.
    """
    chain, depth = _Chain(1, 16, 16, 3), 8
    same = {"padding": tflite.Padding.SAME, "strideH": 1, "strideW": 1}
    halved = {**same, "strideH": 2, "strideW": 2}
    weights = (chain.random(depth, 3, 3, 3, fan_in=27), np.zeros(depth))
    chain.add("CONV_2D", (1, 8, 8, depth), weights, **halved, **_RELU6)
    for _ in range(13):
        weights = (chain.random(1, 3, 3, depth, fan_in=3), chain.rng.normal(0, 0.3, depth))
        chain.add(
            "DEPTHWISE_CONV_2D", (1, 8, 8, depth), weights, depthMultiplier=1, **same, **_RELU6
        )
        weights = (chain.random(depth, 1, 1, depth, fan_in=depth), chain.rng.normal(0, 0.3, depth))
        chain.add("CONV_2D", (1, 8, 8, depth), weights, **same, **_RELU6)
    whole = {"padding": tflite.Padding.VALID, "filterHeight": 8, "filterWidth": 8}
    chain.add("AVERAGE_POOL_2D", (1, 1, 1, depth), **whole, strideH=1, strideW=1)
    weights = (chain.random(10, 1, 1, depth, fan_in=depth), np.zeros(10))
    chain.add("CONV_2D", (1, 1, 1, 10), weights, **same)
    chain.add("SOFTMAX", (1, 1, 1, 10), beta=1.0)
    return chain.file(), chain.rng.normal(0, 1, (1, 16, 16, 3)).astype(np.float32)


def dead() -> tuple[bytes, Array]:
    """A convolution whose channels cancel except for rounding errors, and one that reads them.

    Detectors have such layers if channels died in training.
    """
    chain = _Chain(1, 6, 6, 8)
    same = {"padding": tflite.Padding.SAME, "strideH": 1, "strideW": 1}
    half = chain.random(6, 3, 3, 4, fan_in=72)
    weight = np.concatenate([half, -half], axis=3)
    chain.add("CONV_2D", (1, 6, 6, 6), (weight, np.zeros(6)), **same)
    chain.add("CONV_2D", (1, 6, 6, 4), (chain.random(4, 1, 1, 6, fan_in=6), np.zeros(4)), **same)
    image = chain.rng.normal(0, 1, (1, 6, 6, 4)).astype(np.float32)
    return chain.file(), np.concatenate([image, image], axis=3)


EVERY = {"sine": sine, "mobile": mobile, "dead": dead}
