"""float32 networks that are written operator by operator: transformers and unrolled GRUs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_OPSET = 17
_TOKENS, _WIDTH, _HEADS = 16, 32, 4
_UNITS = 8


@dataclass
class _Floats:
    """A network in the making."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        """The result of an operator."""
        output = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def weight(self, *shape: int) -> str:
        """Random weights."""
        return self.constant(self.random.normal(0, shape[0] ** -0.5, shape).astype(np.float32))

    def constant(self, values: np.ndarray) -> str:
        """A constant of the network."""
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def dense(self, data: str, inputs: int, outputs: int) -> str:
        """A product with weights, and a bias."""
        product = self.node("MatMul", data, self.weight(inputs, outputs))
        return self.node("Add", product, self.weight(outputs))

    def model(self, shape: tuple[int, ...], last: str, result: tuple[int, ...]) -> onnx.ModelProto:
        """The whole, from ``input`` to ``last``."""
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
            for name, sizes in (("input", shape), (last, result))
        ]
        graph = helper.make_graph(self.nodes, "network", ends[:1], ends[1:], self.constants)
        opsets = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def transformer(blocks: int) -> onnx.ModelProto:
    """Blocks of self-attention and of two dense layers, with layer norms before them."""
    net, last = _Floats(np.random.default_rng(blocks)), "input"
    for _ in range(blocks):
        last = net.node("Add", last, _attention(net, _normal(net, last)))
        inner = net.node("Relu", net.dense(_normal(net, last), _WIDTH, 4 * _WIDTH))
        last = net.node("Add", last, net.dense(inner, 4 * _WIDTH, _WIDTH))
    shape = 1, _TOKENS, _WIDTH
    return net.model(shape, last, shape)


def _normal(net: _Floats, data: str) -> str:
    factors = net.constant(net.random.uniform(0.5, 1.5, _WIDTH).astype(np.float32))
    return net.node("LayerNormalization", data, factors, net.weight(_WIDTH), axis=-1)


def _attention(net: _Floats, data: str) -> str:
    apart = net.constant(np.array([1, _TOKENS, _HEADS, _WIDTH // _HEADS], np.int64))
    orders = (0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)
    queries, keys, values = (
        net.node("Transpose", net.node("Reshape", net.dense(data, _WIDTH, _WIDTH), apart), perm=one)
        for one in orders
    )
    scores = net.node("MatMul", queries, keys)
    scaled = net.node("Mul", scores, net.constant(np.float32((_WIDTH // _HEADS) ** -0.5)))
    heads = net.node("MatMul", net.node("Softmax", scaled, axis=-1), values)
    whole = net.constant(np.array([1, _TOKENS, _WIDTH], np.int64))
    together = net.node("Reshape", net.node("Transpose", heads, perm=(0, 2, 1, 3)), whole)
    return net.dense(together, _WIDTH, _WIDTH)


def gru(steps: int) -> onnx.ModelProto:
    """Two GRUs, one after the other, with the operators of each step by themselves."""
    net = _Floats(np.random.default_rng(steps))
    sections = net.constant(np.ones(steps, np.int64))
    names = [f"step{number}" for number in range(steps)]
    net.nodes.append(helper.make_node("Split", ["input", sections], names, axis=0))
    for _ in range(2):
        names = _steps(net, names)
    return net.model((steps, _UNITS), names[-1], (1, _UNITS))


def _steps(net: _Floats, data: list[str]) -> list[str]:
    """The states of a GRU after each step."""
    weights = [[net.weight(_UNITS, _UNITS) for _ in range(3)] for _ in range(2)]
    state, one = net.constant(np.zeros((1, _UNITS), np.float32)), net.constant(np.float32(1))
    states: list[str] = []
    for each in data:
        from_data = [net.node("MatMul", each, weight) for weight in weights[0]]
        reset, update = (
            net.node("Sigmoid", net.node("Add", from_data[k], net.node("MatMul", state, recurrent)))
            for k, recurrent in enumerate(weights[1][:2])
        )
        kept = net.node("Mul", reset, net.node("MatMul", state, weights[1][2]))
        new = net.node("Tanh", net.node("Add", from_data[2], kept))
        old = net.node("Mul", update, state)
        state = net.node("Add", net.node("Mul", net.node("Sub", one, update), new), old)
        states.append(state)
    return states
