"""Graphs of the operators that the accelerator takes."""

from __future__ import annotations

import numpy as np

from microgen.compiler.passes.padding import canonical_padding
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Graph, Quant
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.tables.tables import LookupAttrs
from tests.support.graphs import Builder

OTHER = Quant((0.02,), (-7,))


def multiply(b: Builder, lhs: str, rhs: str, quant: Quant = OTHER) -> str:
    return b.node("multiply", MultiplyAttrs(Activation.RELU6), lhs, rhs, quant=quant)


def lookup(b: Builder, data: str) -> str:
    return b.node("lookup", LookupAttrs("tanh"), data, b.int8(256))


def everything() -> Graph:
    """A graph with every command, a branch, scratch, constant operands and two outputs."""
    b = Builder(5)
    image, row = b.input(1, 5, 4, 3), b.input(2, 6)
    first = b.conv(image, 4, activation=Activation.RELU)
    second = b.depthwise(first)
    total = b.add(first, second, OTHER)
    scaled = multiply(b, total, b.int8(4))
    looked = lookup(b, b.clip(scaled, Activation.RELU, quant=Quant((0.04,), (1,))))
    pooled = b.pool(b.pool(looked, "max"), "avg")
    twice = b.dense(row, 4, Rounding.DOUBLE)
    return canonical_padding(b.graph(pooled, b.dense(row, 5), twice))


def random_layer(seed: int) -> Graph:
    """A graph of one operator with random geometry and quantization."""
    return canonical_padding(_random_layer(Builder(seed)))


def _random_layer(b: Builder) -> Graph:
    rng = b.rng
    batch, height, width, channels = (int(n) for n in rng.integers(1, (3, 8, 8, 5)))
    kind = int(rng.integers(9))
    quant = _quant(rng)
    data = b.input(batch, height, width, channels, quant=_quant(rng))
    if kind == 0:
        other = b.input(*(n if rng.random() < 0.6 else 1 for n in (height, width, channels)))
        return b.graph(b.add(data, other, quant))
    if kind == 1:
        return b.graph(multiply(b, b.int8(channels, quant=_quant(rng)), data, quant))
    if kind == 2:
        return b.graph(b.clip(data, Activation(str(rng.choice(["relu", "relu6"]))), quant))
    if kind == 3:
        return b.graph(lookup(b, data))
    if kind in (4, 5):
        return b.graph(b.pool(data, ("max", "avg")[kind - 4], int(rng.integers(1, 4))))
    if kind == 6:
        row = b.input(batch, int(rng.integers(1, 40)), quant=_quant(rng))
        rounding = (Rounding.SINGLE, Rounding.DOUBLE)[int(rng.integers(2))]
        layer = b.dense(row, int(rng.integers(1, 9)), rounding)
        return b.graph(layer, b.clip(data, Activation.RELU))
    return b.graph(_convolution(b, data, quant, is_depthwise=kind == 7))


def _convolution(b: Builder, data: str, quant: Quant, *, is_depthwise: bool) -> str:
    rng = b.rng
    kernel = tuple(int(n) for n in rng.integers(1, 4, 2))
    strides = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    dilation = (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    channels = b.types[data].shape[3]
    if is_depthwise:
        count = int(rng.integers(1, 4))
        weight = b.weight((1, *kernel, channels * count), 3)
        attrs = DepthwiseConv2DAttrs(
            strides, dilation, "SAME", count, Activation.RELU, Rounding.DOUBLE
        )
        return b.node("nn.depthwise_conv2d", attrs, data, weight, quant=quant)
    groups = channels if rng.random() < 0.3 else 1
    outputs = groups * int(rng.integers(1, 5))
    weight = b.weight((outputs, *kernel, channels // groups), 0)
    conv = Conv2DAttrs(strides, dilation, "SAME", Activation.NONE, Rounding.DOUBLE)
    bias = [b.bias(outputs)] if rng.random() < 0.7 else []
    return b.node("nn.conv2d", conv, data, weight, *bias, quant=quant)


def _quant(rng: np.random.Generator) -> Quant:
    return Quant((float(np.float32(rng.uniform(0.01, 0.2))),), (int(rng.integers(-128, 128)),))


def values(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """Random inputs."""
    rng = np.random.default_rng(seed)
    shapes = {name: graph.types[name].shape for name in graph.inputs}
    return {n: rng.integers(-128, 128, shape).astype(np.int8) for n, shape in shapes.items()}
