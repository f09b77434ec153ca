"""The networks of ``layout_networks`` as torch's exporter writes them, and the list of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.pipeline.layout_networks import NONE, Array, Net, Pads, Shape, Value, Weights, as_first


class Onnx:
    """A float32 .onnx network of NCHW data."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.weights = Weights()
        self.given: Shape = ()

    def input(self, *shape: int) -> Value:
        self.given = as_first(shape)
        return Value("x", shape)

    def model(self, result: Value) -> bytes:
        shape = as_first(result.shape) if len(result.shape) > 2 else result.shape
        given = helper.make_tensor_value_info("x", 1, self.given)
        made = helper.make_tensor_value_info(result.name, 1, shape)
        graph = helper.make_graph(self.nodes, "net", [given], [made], self.constants)
        opset = [helper.make_opsetid("", 17)]
        found = helper.make_model(graph, opset_imports=opset, ir_version=8)
        return bytes(found.SerializeToString())

    def conv(
        self,
        data: Value,
        filters: int,
        size: tuple[int, int],
        *,
        pads: Pads = NONE,
        stride: int = 1,
        dilation: int = 1,
        relu: bool = True,
    ) -> Value:
        weight = np.moveaxis(self.weights.drawn(filters, *size, data.shape[-1]), 3, 1)
        bias = self.weights.drawn(filters)
        rank, sizes = len(data.shape) - 2, data.shape[1:-1]
        own = list(pads) if rank == 2 else [pads[1], pads[3]]
        if rank == 1:
            weight = weight[:, :, 0]
        around = [own[k] + own[k + rank] for k in range(rank)]
        shape = tuple(
            (n + p - (k - 1) * dilation - 1) // stride + 1
            for n, p, k in zip(sizes, around, weight.shape[2:], strict=True)
        )
        attrs = {"pads": own, "strides": [stride] * rank, "dilations": [dilation] * rank}
        inputs = (data.name, self._constant(weight), self._constant(bias))
        made = Value(self._emit("Conv", inputs, **attrs), (data.shape[0], *shape, filters))
        return self._relu(made) if relu else made

    def depthwise(self, data: Value) -> Value:
        c = data.shape[-1]
        weight = np.moveaxis(self.weights.drawn(c, 3, 3, 1), 3, 1)
        inputs = (data.name, self._constant(weight), self._constant(self.weights.drawn(c)))
        return self._relu(Value(self._emit("Conv", inputs, pads=[1] * 4, group=c), data.shape))

    def norm(self, data: Value, *, relu: bool = True) -> Value:
        c = data.shape[-1]
        zeros, ones = np.zeros(c, np.float32), np.ones(c, np.float32)
        values = (self.weights.factors(c), self.weights.drawn(c), zeros, ones)
        inputs = (data.name, *map(self._constant, values))
        made = Value(self._emit("BatchNormalization", inputs, epsilon=0.0), data.shape)
        return self._relu(made) if relu else made

    def pool(self, data: Value) -> Value:
        n, *sizes, c = data.shape
        size = [2] * len(sizes)
        name = self._emit("MaxPool", (data.name,), kernel_shape=size, strides=size)
        return Value(name, (n, *(side // 2 for side in sizes), c))

    def mean(self, data: Value) -> Value:
        return self._flat(self._emit("GlobalAveragePool", (data.name,)), data)

    def greatest(self, data: Value) -> Value:
        return self._flat(self._emit("GlobalMaxPool", (data.name,)), data)

    def dense(self, data: Value, units: int) -> Value:
        weight = self.weights.drawn(units, *data.shape[1:])
        name = data.name
        if len(data.shape) > 2:
            name = self._emit("Flatten", (name,), axis=1)
            weight = np.moveaxis(weight, -1, 1)
        own = self._constant(weight.reshape(units, -1))
        bias = self._constant(self.weights.drawn(units))
        return Value(self._emit("Gemm", (name, own, bias), transB=1), (1, units))

    def add(self, left: Value, right: Value) -> Value:
        return self._relu(Value(self._emit("Add", (left.name, right.name)), left.shape))

    def gate(self, data: Value, gate: Value) -> Value:
        name = self._reshaped(gate.name, (*gate.shape, *(1,) * (len(data.shape) - 2)))
        return Value(self._emit("Mul", (data.name, name)), data.shape)

    def sigmoid(self, data: Value) -> Value:
        return Value(self._emit("Sigmoid", (data.name,)), data.shape)

    def joined(self, left: Value, right: Value) -> Value:
        shape = (*left.shape[:-1], left.shape[-1] + right.shape[-1])
        return Value(self._emit("Concat", (left.name, right.name), axis=1), shape)

    def half(self, data: Value, which: int) -> Value:
        size = data.shape[-1] // 2
        bounds = ([which * size], [which * size + size], [1])
        inputs = (data.name, *(self._constant(np.array(each)) for each in bounds))
        return Value(self._emit("Slice", inputs), (*data.shape[:-1], size))

    def last(self, data: Value) -> Value:
        index = self._constant(np.array(data.shape[1] - 1))
        shape = (data.shape[0], data.shape[-1])
        return Value(self._emit("Gather", (data.name, index), axis=2), shape)

    def padded(self, data: Value, before: int, after: int) -> Value:
        n, *sizes, c = data.shape
        pads = np.array([0, 0, *[before] * len(sizes), 0, 0, *[after] * len(sizes)])
        name = self._emit("Pad", (data.name, self._constant(pads)))
        return Value(name, (n, *(side + before + after for side in sizes), c))

    def shuffled(self, data: Value, groups: int) -> Value:
        n, *sizes, c = data.shape
        name = self._reshaped(data.name, (n, groups, c // groups, *sizes))
        perm = [0, 2, 1, *range(3, 3 + len(sizes))]
        name = self._emit("Transpose", (name,), perm=perm)
        return Value(self._reshaped(name, (n, c, *sizes)), data.shape)

    def pixels(self, data: Value, block: int) -> Value:
        n, h, w, c = data.shape
        name = self._emit("DepthToSpace", (data.name,), blocksize=block, mode="CRD")
        return Value(name, (n, h * block, w * block, c // block**2))

    def _flat(self, name: str, data: Value) -> Value:
        shape = (data.shape[0], data.shape[-1])
        return Value(self._emit("Flatten", (name,), axis=1), shape)

    def _relu(self, data: Value) -> Value:
        return Value(self._emit("Relu", (data.name,)), data.shape)

    def _reshaped(self, name: str, shape: Sequence[int]) -> str:
        return self._emit("Reshape", (name, self._constant(np.array(shape))))

    def _constant(self, array: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def _emit(self, op: str, inputs: Sequence[str], **attrs: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attrs))
        return name


def _cnn_1d(n: Net) -> Value:
    x = n.input(1, 32, 3)
    x = n.pool(n.norm(n.conv(x, 8, (1, 5), pads=(0, 2, 0, 2), relu=False)))
    x = n.pool(n.norm(n.conv(x, 12, (1, 3), pads=(0, 1, 0, 1), relu=False)))
    return n.dense(x, 5)


def _cnn_1d_of_one(n: Net) -> Value:
    x = n.norm(n.conv(n.input(1, 32, 1), 8, (1, 3), stride=2))
    return n.dense(n.mean(n.norm(n.conv(x, 8, (1, 3)), relu=False)), 4)


def _block(n: Net, x: Value, filters: int, dilation: int) -> Value:
    pads = (0, 2 * dilation, 0, 0)
    y = n.conv(x, filters, (1, 3), pads=pads, dilation=dilation)
    y = n.conv(y, filters, (1, 3), pads=pads, dilation=dilation)
    same = x if x.shape[-1] == filters else n.conv(x, filters, (1, 1), relu=False)
    return n.add(y, same)


def _tcn(n: Net) -> Value:
    x = n.input(1, 24, 4)
    for dilation in (1, 2, 4):
        x = _block(n, x, 8, dilation)
    return n.dense(n.last(x), 3)


def _tcn_of_all(n: Net) -> Value:
    x = _block(n, _block(n, n.input(1, 16, 2), 4, 1), 6, 2)
    return n.conv(x, 3, (1, 1), relu=False)


def _cnn_2d(n: Net) -> Value:
    x = n.conv(n.input(1, 12, 12, 3), 8, (3, 3), pads=(1, 1, 1, 1))
    x = n.pool(n.conv(n.pool(x), 12, (3, 3), pads=(1, 1, 1, 1)))
    return n.dense(x, 5)


def _cnn_2d_norm(n: Net) -> Value:
    x = n.norm(n.conv(n.input(1, 10, 8, 1), 8, (3, 3), stride=2, relu=False))
    return n.dense(n.greatest(n.norm(n.conv(x, 6, (2, 2)))), 3)


def _residual(n: Net) -> Value:
    x = n.conv(n.input(1, 8, 8, 3), 8, (3, 3), pads=(1, 1, 1, 1))
    y = n.conv(x, 8, (3, 3), pads=(1, 1, 1, 1))
    y = n.add(n.conv(y, 8, (3, 3), pads=(1, 1, 1, 1), relu=False), x)
    return n.dense(n.mean(y), 4)


def _separable(n: Net) -> Value:
    x = n.conv(n.input(1, 10, 10, 2), 8, (3, 3), stride=2)
    for _ in range(2):
        x = n.conv(n.depthwise(x), 8, (1, 1))
    return n.dense(n.mean(x), 6)


def _shuffle_unit(n: Net, x: Value) -> Value:
    y = n.conv(n.half(x, 1), x.shape[-1] // 2, (1, 1))
    y = n.conv(n.depthwise(y), x.shape[-1] // 2, (1, 1))
    return n.shuffled(n.joined(n.half(x, 0), y), 2)


def _shuffle(n: Net) -> Value:
    x = n.conv(n.input(1, 9, 9, 3), 8, (3, 3), stride=2)
    return n.dense(n.mean(_shuffle_unit(n, x)), 4)


def _shuffled_channels(n: Net) -> Value:
    x = n.shuffled(n.conv(n.input(1, 6, 6, 2), 12, (3, 3)), 3)
    return n.conv(n.depthwise(x), 4, (1, 1))


def _pixel_shuffle(n: Net) -> Value:
    x = n.conv(n.input(1, 6, 6, 1), 8, (3, 3), pads=(1, 1, 1, 1))
    return n.pixels(n.conv(x, 4, (3, 3), pads=(1, 1, 1, 1), relu=False), 2)


def _pixel_shuffle_of_colours(n: Net) -> Value:
    x = n.conv(n.input(1, 5, 4, 3), 12, (3, 3), pads=(1, 1, 1, 1), relu=False)
    return n.conv(n.pixels(x, 2), 4, (3, 3))


def _squeeze_excite(n: Net) -> Value:
    x = n.conv(n.input(1, 8, 8, 3), 8, (3, 3), stride=2)
    gate = n.sigmoid(n.dense(n.dense(n.mean(x), 4), 8))
    return n.conv(n.gate(x, gate), 4, (1, 1))


def _squeeze_1d(n: Net) -> Value:
    x = n.conv(n.input(1, 20, 2), 8, (1, 3))
    return n.dense(n.mean(n.gate(x, n.sigmoid(n.dense(n.mean(x), 8)))), 3)


def _pad(n: Net) -> Value:
    x = n.conv(n.padded(n.input(1, 7, 7, 3), 1, 2), 8, (3, 3))
    return n.conv(n.padded(x, 1, 1), 4, (3, 3), stride=2)


def _joined(n: Net) -> Value:
    x = n.conv(n.input(1, 8, 8, 3), 6, (3, 3))
    y = n.joined(n.conv(x, 4, (1, 1)), n.conv(x, 6, (3, 3), pads=(1, 1, 1, 1)))
    return n.dense(n.joined(y, x), 5)


def _dense_net(n: Net) -> Value:
    x = n.conv(n.input(1, 16, 1), 4, (1, 3), pads=(0, 1, 0, 1))
    for _ in range(3):
        x = n.joined(x, n.norm(n.conv(x, 4, (1, 3), pads=(0, 1, 0, 1), relu=False)))
    return n.dense(n.greatest(x), 3)


def _u_net(n: Net) -> Value:
    x = n.conv(n.input(1, 8, 8, 1), 4, (3, 3), pads=(1, 1, 1, 1))
    y = n.conv(n.pool(x), 16, (3, 3), pads=(1, 1, 1, 1))
    return n.conv(n.joined(n.pixels(y, 2), x), 2, (1, 1), relu=False)


def _keyword(n: Net) -> Value:
    x = n.conv(n.input(1, 20, 10, 1), 8, (5, 4), stride=2)
    return n.dense(n.mean(n.conv(n.depthwise(x), 8, (1, 1))), 12)


def _sides(n: Net) -> Value:
    x = n.conv(n.input(1, 8, 6, 2), 8, (3, 3))
    return n.dense(n.add(n.half(x, 0), n.half(x, 1)), 3)


def _sigmoids(n: Net) -> Value:
    x = n.sigmoid(n.norm(n.conv(n.input(1, 12, 2), 6, (1, 3)), relu=False))
    return n.dense(n.sigmoid(n.conv(n.norm(x), 4, (1, 2), relu=False)), 2)


def _recorder(n: Net) -> Value:
    x = n.input(1, 48, 2)
    for filters in (6, 8, 8):
        x = n.norm(n.conv(x, filters, (1, 5), stride=2, relu=False))
    return n.dense(n.dense(x, 8), 2)


NETWORKS: tuple[Callable[[Net], Value], ...] = (
    *(_cnn_1d, _cnn_1d_of_one, _tcn, _tcn_of_all, _cnn_2d, _cnn_2d_norm, _residual, _separable),
    *(_shuffle, _shuffled_channels, _pixel_shuffle, _pixel_shuffle_of_colours, _squeeze_excite),
    *(_squeeze_1d, _pad, _joined, _dense_net, _u_net, _keyword, _sides, _sigmoids, _recorder),
)
