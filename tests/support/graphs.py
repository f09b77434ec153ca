"""Builds small int8 graphs, handmade or random, for tests of passes and of later stages."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import (
    Array,
    ArrayType,
    Attrs,
    DType,
    Graph,
    Node,
    Origin,
    Quant,
    frozen,
)
from microgen.graph.ops import registry
from microgen.graph.ops.base import Padding
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.layouts import TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs

DEFAULT = Quant((0.05,), (3,))


class Builder:
    """Appends nodes and returns tensor names."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.types: dict[str, ArrayType] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: list[Node] = []
        self.inputs: list[str] = []

    def input(self, *shape: int, quant: Quant = DEFAULT) -> str:
        name = f"input{len(self.inputs)}"
        self.inputs.append(name)
        self.types[name] = ArrayType(shape, DType.INT8, quant)
        return name

    def constant(self, array: Array, quant: Quant | None) -> str:
        name = f"constant{len(self.constants)}"
        self.types[name] = ArrayType(array.shape, DType(array.dtype.name), quant)
        self.constants[name] = frozen(array)
        return name

    def int8(self, *shape: int, quant: Quant = DEFAULT) -> str:
        return self.constant(self.rng.integers(-128, 128, shape).astype(np.int8), quant)

    def weight(self, shape: tuple[int, ...], axis: int) -> str:
        scales = self.rng.uniform(0.002, 0.02, shape[axis]).astype(np.float32)
        quant = Quant(tuple(map(float, scales)), (0,) * shape[axis], axis)
        return self.constant(self.rng.integers(-127, 128, shape).astype(np.int8), quant)

    def bias(self, count: int) -> str:
        return self.constant(self.rng.integers(-3000, 3000, count).astype(np.int32), None)

    def node(self, op: str, attrs: Attrs, *inputs: str, quant: Quant = DEFAULT) -> str:
        types = [self.types[name] for name in inputs]
        (shape,) = registry()[op].infer(attrs, types)
        name = f"layer{len(self.nodes)}"
        self.types[name] = ArrayType(shape, DType.INT8, quant)
        self.nodes.append(Node(op, inputs, (name,), attrs, Origin("test", name)))
        return name

    def conv(
        self,
        data: str,
        channels: int,
        kernel: int = 3,
        *,
        stride: int = 1,
        padding: Padding = "SAME",
        activation: Activation = Activation.NONE,
        with_bias: bool = True,
        quant: Quant = DEFAULT,
    ) -> str:
        depth = self.types[data].shape[3]
        weight = self.weight((channels, kernel, kernel, depth), 0)
        attrs = Conv2DAttrs((stride, stride), (1, 1), padding, activation, Rounding.DOUBLE)
        bias = [self.bias(channels)] if with_bias else []
        return self.node("nn.conv2d", attrs, data, weight, *bias, quant=quant)

    def depthwise(self, data: str, *, multiplier: int = 1, padding: Padding = "SAME") -> str:
        channels = self.types[data].shape[3] * multiplier
        weight = self.weight((1, 3, 3, channels), 3)
        attrs = DepthwiseConv2DAttrs(
            (1, 1), (1, 1), padding, multiplier, Activation.NONE, Rounding.DOUBLE
        )
        return self.node("nn.depthwise_conv2d", attrs, data, weight, self.bias(channels))

    def dense(self, data: str, features: int, rounding: Rounding = Rounding.SINGLE) -> str:
        weight = self.int8(features, self.types[data].shape[-1], quant=Quant((0.01,), (0,)))
        attrs = DenseAttrs(Activation.NONE, rounding, keep_num_dims=False)
        return self.node("nn.dense", attrs, data, weight, self.bias(features))

    def add(self, lhs: str, rhs: str, quant: Quant = DEFAULT) -> str:
        return self.node("add", AddAttrs(Activation.NONE), lhs, rhs, quant=quant)

    def clip(self, data: str, activation: Activation, quant: Quant | None = None) -> str:
        same = self.types[data].quant
        assert same is not None
        return self.node("clip", ClipAttrs(activation), data, quant=quant or same)

    def pad(self, data: str, pads: tuple[tuple[int, int], ...], value: int) -> str:
        quant = self.types[data].quant
        assert quant is not None
        return self.node("nn.pad", PadAttrs(pads, value), data, quant=quant)

    def pool(self, data: str, kind: str, size: int = 2) -> str:
        attrs_type = AvgPool2DAttrs if kind == "avg" else MaxPool2DAttrs
        attrs = attrs_type((size, size), (size, size), "SAME", Activation.NONE)
        quant = self.types[data].quant
        assert quant is not None
        return self.node(f"nn.{kind}_pool2d", attrs, data, quant=quant)

    def reshape(self, data: str, *shape: int) -> str:
        quant = self.types[data].quant
        assert quant is not None
        return self.node("reshape", ReshapeAttrs(shape), data, quant=quant)

    def sigmoid(self, data: str) -> str:
        return self.node("sigmoid", SigmoidAttrs(), data, quant=Quant((1 / 256,), (-128,)))

    def softmax(self, data: str) -> str:
        quant = Quant((1 / 256,), (-128,))
        return self.node("nn.softmax", SoftmaxAttrs(1.0), data, quant=quant)

    def graph(self, *outputs: str) -> Graph:
        return Graph(
            "test", tuple(self.inputs), outputs, tuple(self.nodes), self.types, self.constants
        )


def rows_of_a_transpose() -> Graph:
    """A copy of ``x``, which cannot fail, and rows of it, which an index outside makes fail."""
    types = {
        "x": ArrayType((2, 3), DType.INT16),
        "i": ArrayType((2,), DType.INT32),
        "t": ArrayType((3, 2), DType.INT16),
        "y": ArrayType((2, 2), DType.INT16),
    }
    nodes = (
        Node("transpose", ("x",), ("t",), TransposeAttrs((1, 0)), Origin("m", "turned")),
        Node("take", ("t", "i"), ("y",), TakeAttrs(0), Origin("m", "rows")),
    )
    return Graph("m", ("x", "i"), ("y",), nodes, types, {})


def random_graph(seed: int) -> Graph:
    """A graph of up to a dozen nodes: branches, shared inputs, dead ends, outputs used inside."""
    b = Builder(seed)
    rng = b.rng
    images = [b.input(1, *_image(rng))]
    if rng.random() < 0.3:
        images.append(b.int8(*b.types[images[0]].shape))
    for _ in range(int(rng.integers(1, 10))):
        images.append(_random_node(b, images))
    outputs = list(dict.fromkeys(rng.choice(images, int(rng.integers(1, 4))).tolist()))
    if rng.random() < 0.5:
        flat = b.reshape(images[-1], 1, b.types[images[-1]].size)
        outputs.append(b.softmax(b.dense(flat, 4)) if rng.random() < 0.7 else flat)
    if rng.random() < 0.2:
        outputs.append(outputs[0])
    return b.graph(*outputs)


def _image(rng: np.random.Generator) -> tuple[int, int, int]:
    height, width, depth = (int(n) for n in rng.integers(1, 7, 3))
    return height, width, depth


def _random_node(b: Builder, images: list[str]) -> str:
    rng = b.rng
    data = str(rng.choice(images))
    quant = Quant((float(np.float32(rng.uniform(0.01, 0.2))),), (int(rng.integers(-128, 128)),))
    choice = rng.integers(11)
    if choice == 0:
        padding: Padding = "SAME" if rng.random() < 0.5 else (1, 2, 2, 1)
        return b.conv(data, int(rng.integers(1, 5)), padding=padding, quant=quant)
    if choice == 1:
        return b.depthwise(data, multiplier=int(rng.integers(1, 3)))
    if choice == 2:
        return b.pool(data, "avg" if rng.random() < 0.5 else "max")
    if choice in (3, 4):
        activation = Activation(str(rng.choice(["relu", "relu6", "relu_n1_to_1"])))
        return b.clip(data, activation)
    if choice == 5:
        shape = b.types[data].shape
        flat = b.reshape(data, b.types[data].size)
        return b.reshape(flat, *(shape if rng.random() < 0.5 else (1, 1, 1, b.types[flat].size)))
    if choice in (6, 7):
        same = b.types[data].zero_point
        value = same if rng.random() < 0.7 else int(rng.integers(-128, 128))
        return b.pad(data, ((0, 0), (1, 0), (0, 2), (0, int(rng.random() < 0.2))), value)
    if choice == 8:
        return b.sigmoid(data)
    partners = [name for name in images if b.types[name].shape == b.types[data].shape]
    return b.add(data, str(rng.choice(partners)), quant)
