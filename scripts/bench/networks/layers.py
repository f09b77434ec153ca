"""Layers with weights: convolutions and dense layers, each with a folded batch norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scripts.bench.networks import windows
from scripts.bench.networks.drawing import SAMPLES, Activation, Drawing, Input, Options, rounded
from scripts.bench.networks.windows import SAME, VALID, Pair, pair

Array = npt.NDArray[Any]

# ActivationFunctionType of TFLite's schema; a ReLU's inputs have a mean that few values are below.
NONE, RELU, RELU6 = 0, 1, 3
# Of so few results of a channel the mean and the spread are not its own.
_FEW = 8
_SHIFT = {NONE: 0.0, RELU: 0.4, RELU6: 0.8}


class WeightedDrawing(Drawing):
    """A network in the making, with layers that multiply by weights.

    The weights are random, and scaled by channel so that all results have a spread near 1, as
    trained networks with batch norms have.
    """

    def image(self, height: int, width: int, depth: int) -> Activation:
        """An input of random blocks, so that neighbours are alike, with noise."""
        coarse = self.random.uniform(-0.8, 0.8, (SAMPLES, -(-height // 4), -(-width // 4), depth))
        blocks = coarse.repeat(4, 1).repeat(4, 2)[:, :height, :width]
        return self.given(blocks + self.random.uniform(-0.2, 0.2, blocks.shape))

    def sequence(self, *shape: int) -> Activation:
        """An input of random numbers."""
        return self.given(self.random.uniform(-1, 1, (SAMPLES, *shape)))

    def given(self, reals: Array) -> Activation:
        """An input with these values."""
        made = self.activation(f"input{len(self.inputs)}", reals)
        self.inputs.append(made.name)
        return made

    def conv(
        self,
        data: Activation,
        count: int,
        kernel: int | Pair = 1,
        stride: int | Pair = 1,
        *,
        groups: int = 1,
        dilation: int | Pair = 1,
        same: bool = True,
        act: int = RELU,
    ) -> Activation:
        """A convolution, of groups of channels if there are several."""
        kernels, strides, spread = pair(kernel), pair(stride), pair(dilation)
        depth = data.reals.shape[3] // groups
        seen = windows.of(data.reals, kernels, strides, spread, same)
        weights = self._drawn(count, *kernels, depth)
        parts = [
            seen[..., g * depth : (g + 1) * depth].reshape(*seen.shape[:3], -1)
            @ own.reshape(count // groups, -1).T
            for g, own in enumerate(np.split(weights, groups))
        ]
        sums, weights, bias = self._normal(np.concatenate(parts, 3), weights, 0, act)
        return self._weighted(
            *("CONV_2D", data, weights, bias, _active(sums, act), 0, "Conv2DOptions"),
            {
                **_window(strides, same, act),
                "dilationHFactor": spread[0],
                "dilationWFactor": spread[1],
            },
        )

    def depthwise(
        self,
        data: Activation,
        kernel: int | Pair = 3,
        stride: int | Pair = 1,
        *,
        multiplier: int = 1,
        dilation: int | Pair = 1,
        same: bool = True,
        act: int = RELU,
    ) -> Activation:
        """A depthwise convolution."""
        kernels, strides, spread = pair(kernel), pair(stride), pair(dilation)
        count = data.reals.shape[3] * multiplier
        seen = windows.of(data.reals, kernels, strides, spread, same).repeat(multiplier, 4)
        weights = self._drawn(1, *kernels, count)
        sums = (seen * weights.reshape(-1, count)).sum(3)
        sums, weights, bias = self._normal(sums, weights, 3, act)
        return self._weighted(
            *("DEPTHWISE_CONV_2D", data, weights, bias, _active(sums, act), 3),
            "DepthwiseConv2DOptions",
            {
                **_window(strides, same, act),
                "depthMultiplier": multiplier,
                "dilationHFactor": spread[0],
                "dilationWFactor": spread[1],
            },
        )

    def transposed(
        self,
        data: Activation,
        count: int,
        kernel: int = 3,
        stride: int = 2,
        *,
        same: bool = True,
        act: int = RELU,
    ) -> Activation:
        """A transposed convolution that enlarges by the stride."""
        _, rows, columns, depth = data.reals.shape
        grown = (rows * stride, columns * stride)
        if not same:
            grown = ((rows - 1) * stride + kernel, (columns - 1) * stride + kernel)
        weights = self._drawn(count, kernel, kernel, depth)
        products = np.einsum("nyxc,ohwc->nyxhwo", data.reals, weights)
        sums = windows.scattered(products, (stride, stride), grown, same)
        sums, weights, bias = self._normal(sums, weights, 0, act)
        size = self.numbers(np.array((1, *grown, count)))
        inputs: list[Input] = [size, self.weights(weights), data, self.bias(bias, data, weights)]
        options = _window((stride, stride), same, act)
        reals = _active(sums, act)
        return self.add("TRANSPOSE_CONV", inputs, reals, "TransposeConvOptions", options)

    def dense(
        self, data: Activation, count: int, *, act: int = NONE, each: bool = False
    ) -> Activation:
        """A fully connected layer of the last axis; with ``each`` with a scale by output."""
        depth = data.reals.shape[-1]
        weights = self._drawn(count, depth)
        sums, weights, bias = self._normal(data.reals @ weights.T, weights, 0, act)
        axis = 0 if each else None
        return self._weighted(
            *("FULLY_CONNECTED", data, weights, bias, _active(sums, act), axis),
            "FullyConnectedOptions",
            {"keepNumDims": data.reals.ndim > 2, "fusedActivationFunction": act},
        )

    def _drawn(self, *shape: int) -> Array:
        """Random weights, most of them small."""
        drawn: Array = self.random.random_sample((3, *shape)).sum(0) - 1.5
        return drawn

    def _normal(
        self, sums: Array, weights: Array, axis: int, act: int
    ) -> tuple[Array, Array, Array]:
        """Sums, weights and bias after a batch norm with random parameters."""
        flat = sums.reshape(-1, sums.shape[-1])
        count = flat.shape[1]
        gamma = self.random.uniform(0.5, 1.5, count)
        beta = self.random.uniform(-0.5, 0.5, count) + _SHIFT[act]
        middle, spread = flat.mean(0), flat.std(0)
        if len(flat) < _FEW:
            middle, spread = np.zeros(count), np.full(count, np.sqrt((flat**2).mean()))
        spread = np.maximum(spread, 0.1 * flat.std() + 1e-6)
        factor = np.array([rounded(g / s) for g, s in zip(gamma, spread, strict=True)])
        bias = np.rint(1024 * (beta - middle * factor)) / 1024
        shape = [1] * weights.ndim
        shape[axis] = -1
        return sums * factor + bias, weights * factor.reshape(shape), bias

    def _weighted(
        self,
        code: str,
        data: Activation,
        weights: Array,
        bias: Array,
        reals: Array,
        axis: int | None,
        table: str,
        options: Options,
    ) -> Activation:
        constants = self.weights(weights, axis), self.bias(bias, data, weights, axis)
        return self.add(code, [data, *constants], reals, table, options)


def _active(sums: Array, act: int) -> Array:
    return sums if act == NONE else np.clip(sums, 0, 6 if act == RELU6 else None)


def _window(strides: Pair, same: bool, act: int) -> dict[str, int]:
    return {
        "padding": SAME if same else VALID,
        "strideH": strides[0],
        "strideW": strides[1],
        "fusedActivationFunction": act,
    }
