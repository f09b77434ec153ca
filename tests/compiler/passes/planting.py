"""Networks with planted dead channels, for the tests of ``dead_channels``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from microgen.compiler import passes
from microgen.compiler.passes.dead_channels import dead_channels
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Array, Graph, Quant, frozen
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.graph.ops.base import Padding
from tests.support.graphs import Builder

EARLIER = passes.DEFAULT_PIPELINE[: passes.DEFAULT_PIPELINE.index(dead_channels)]
ZERO = Quant((0.05,), (-128,))  # of tensors after a ReLU: the zero point is the least value


def values_of(graph: Graph, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    inputs = {}
    for name in graph.inputs:
        kind = graph.types[name]
        limits = np.iinfo(kind.dtype.numpy)
        extremes = rng.choice([limits.min, limits.max], kind.shape)
        values = rng.integers(limits.min, limits.max + 1, kind.shape)
        inputs[name] = np.where(rng.random() < 0.3, extremes, values).astype(kind.dtype.numpy)
    return evaluate(graph, inputs, registry())


def reduced(graph: Graph, samples: int = 3) -> Graph:
    """The graph without dead channels. All values that it still has are compared."""
    verify.check(graph, registry())
    before = passes.run(graph, EARLIER)
    after = dead_channels(before)
    verify.check(after, registry())
    for seed in range(samples):
        expected, found = values_of(before, seed), values_of(after, seed)
        for node in after.nodes:
            (name,) = node.outputs
            whole, channels = expected[name], after.channels.get(name)
            left = whole if channels is None else whole[..., list(channels.kept)]
            np.testing.assert_array_equal(found[name], left, err_msg=name, strict=True)
        assert after.outputs == before.outputs
    for name, channels in after.channels.items():
        assert channels.count == before.types[name].shape[-1]
        assert len(channels.kept) == after.types[name].shape[-1] > 0
    return after


def kept(graph: Graph) -> dict[str, tuple[int, ...]]:
    return {name: channels.kept for name, channels in graph.channels.items()}


class Planting(Builder):
    """A builder that can change the weights and biases of its layers afterwards."""

    def _change(self, layer: str, position: int, index: object, value: object) -> None:
        node = next(n for n in self.nodes if n.outputs == (layer,))
        array = self.constants[node.inputs[position]].copy()
        array[index] = value  # type: ignore[index]
        self.constants[node.inputs[position]] = frozen(array)

    def kill(self, layer: str, channels: Iterable[int], bias: int = 0) -> None:
        """Give channels of a layer's result weights of 0, and this bias."""
        chosen = list(channels)
        node = next(n for n in self.nodes if n.outputs == (layer,))
        index = (..., chosen) if node.op == "nn.depthwise_conv2d" else chosen
        self._change(layer, 1, index, 0)
        self.offset(layer, chosen, bias)

    def offset(self, layer: str, channels: Iterable[int], bias: int) -> None:
        """Give channels of a layer's result this bias."""
        if len(next(n for n in self.nodes if n.outputs == (layer,)).inputs) > 2:
            self._change(layer, 2, list(channels), bias)

    def ignore(self, layer: str, channels: Iterable[int]) -> None:
        """Make a layer ignore channels of its input."""
        self._change(layer, 1, (..., list(channels)), 0)

    def round(self, layer: str, rounding: Rounding) -> None:
        """Round the sums of a layer in another way."""
        at = next(i for i, n in enumerate(self.nodes) if n.outputs == (layer,))
        attrs = dataclasses.replace(self.nodes[at].attrs, rounding=rounding)  # type: ignore[call-arg]
        self.nodes[at] = dataclasses.replace(self.nodes[at], attrs=attrs)

    def relu(self, data: str, channels: int, kernel: int = 1, padding: Padding = "SAME") -> str:
        """A convolution whose zero point is its least value."""
        return self.conv(
            data, channels, kernel, padding=padding, activation=Activation.RELU, quant=ZERO
        )

    def small(self, data: str) -> str:
        """A depthwise convolution with a ReLU."""
        name = self.depthwise(data)
        self.types[name] = dataclasses.replace(self.types[name], quant=ZERO)
        node = self.nodes[-1]
        attrs = dataclasses.replace(node.attrs, activation=Activation.RELU)  # type: ignore[call-arg]
        self.nodes[-1] = dataclasses.replace(node, attrs=attrs)
        return name


def start(channels: int = 8) -> tuple[Planting, str]:
    b = Planting()
    return b, b.relu(b.input(1, 5, 4, 3), channels)


DEAD = (1, 2, 5, 6)
LEFT = (0, 3, 4, 7)
