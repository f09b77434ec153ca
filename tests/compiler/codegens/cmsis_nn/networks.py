"""A small network as one external function. CMSIS-NN takes all of its nodes."""

from __future__ import annotations

import numpy as np

from microgen.compiler.passes.padding import canonical_padding
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node, Origin, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from tests.compiler.codegens.cmsis_nn.harness import Example
from tests.kernels.conformance import conformance as c

_CHANNELS = 20
_NONE, _DOUBLE = Activation.NONE, Rounding.DOUBLE


class _Network:
    """A graph in the making; each node reads tensors of the nodes before."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.types: dict[str, ArrayType] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: list[Node] = []

    def tensor(self, name: str, shape: tuple[int, ...], quant: Quant) -> str:
        self.types[name] = ArrayType(shape, DType.INT8, quant)
        return name

    def constant(self, name: str, tensor: c.Tensor) -> str:
        self.types[name], self.constants[name] = tensor.type, tensor.array
        return name

    def add(self, op: str, attrs: Attrs, inputs: tuple[str, ...], quant: Quant) -> str:
        name = f"{op} {len(self.nodes)}"
        (shape,) = registry()[op].infer(attrs, [self.types[i] for i in inputs])
        self.tensor(name, shape, quant)
        self.nodes.append(Node(op, inputs, (name,), attrs, Origin("network", name)))
        return name


def residual(seed: int) -> Example:
    """A network that adds two convolutions, scales the sum, pools it and classifies."""
    net = _Network(seed)
    rng = net.rng
    x = net.tensor("x", (1, 7, 6, 3), c.quant(0.02, -3))
    w0 = net.constant("w0", c.weight(rng, (_CHANNELS, 3, 3, 3), 0))
    b0 = net.constant("b0", c.bias(rng.integers(-900, 900, _CHANNELS)))
    conv = Conv2DAttrs((1, 1), (1, 1), "SAME", Activation.RELU, _DOUBLE)
    a = net.add("nn.conv2d", conv, (x, w0, b0), c.quant(0.01, -128))
    w1 = net.constant("w1", c.weight(rng, (1, 5, 5, _CHANNELS), 3))
    depthwise = DepthwiseConv2DAttrs((1, 1), (1, 1), "SAME", 1, _NONE, _DOUBLE)
    b = net.add("nn.depthwise_conv2d", depthwise, (a, w1), c.quant(0.01, 5))
    total = net.add("add", AdditionAttrs(_NONE), (b, a), c.quant(0.015, 9))
    factor = net.constant("factor", c.int8(rng, (1, 7, 6, _CHANNELS), c.quant(0.01, 1)))
    scaled = net.add("multiply", MultiplyAttrs(_NONE), (total, factor), c.quant(0.02, -7))
    pool = AvgPool2DAttrs((7, 6), (1, 1), "VALID", _NONE)
    mean = net.add("nn.avg_pool2d", pool, (scaled,), c.quant(0.02, -7))
    w2 = net.constant("w2", c.weight(rng, (11, _CHANNELS), None))
    dense = DenseAttrs(_NONE, _DOUBLE, keep_num_dims=False)
    logits = net.add("nn.dense", dense, (mean, w2), c.quant(0.01, 4))
    result = net.add("nn.softmax", SoftmaxAttrs(1.0), (logits,), c.quant(1 / 256, -128))
    made = Graph("net", (x,), (result,), tuple(net.nodes), net.types, net.constants)
    graph = canonical_padding(made)
    given = rng.integers(-128, 128, (1, 7, 6, 3)).astype(np.int8)
    values = interpreter.evaluate(graph, {x: given}, registry())
    return Example(f"network {seed}", graph, (given,), (values[result],))
