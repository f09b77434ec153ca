"""Random ONNX networks of what passes move into each other: layers in one, two or three dimensions,
changes of shape and of layout between them, sums and products per channel, and clamps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from microgen import frontends
from microgen.graph.ir.graph import Array, Graph


class Chain:
    """A network as it grows from the input "x". ``last`` is the last tensor, of the shape
    ``shape``: batch, channels, then one to three dimensions, or none after a dense layer."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        sizes = [int(self.rng.integers(4, 7)) for _ in range(int(self.rng.integers(1, 4)))]
        self.given = self.shape = (1, self.pick(2, 3, 4), *sizes)
        self.last, self.seen = "x", ["x"]
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def constant(self, *shape: int, least: float = -1.0) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = self.rng.uniform(least, 1.0, shape).astype(np.float32)
        return name

    def add(self, op: str, shape: tuple[int, ...], *others: str, **attrs: Any) -> None:
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *others], [output], **attrs))
        self.last, self.shape = output, shape
        self.seen.append(output)

    def step(self) -> None:
        """Add an operator that fits."""
        kinds = [self.per_channel, self.per_channel, self.clamp, self.clamp, self.reshape]
        kinds += [self.layer, self.layer, self.pool] if len(self.shape) > 2 else [self.dense]
        self.pick(*kinds)()

    def layer(self) -> None:
        batch, channels, *sizes = self.shape
        filters = self.pick(2, 3, 4)
        if len(sizes) == 1 and self.rng.random() < 0.3:
            weight = self.constant(channels, filters, 2)
            self.add("ConvTranspose", (batch, filters, sizes[0] + 1), weight)
            return
        size = [self.pick(1, min(2, *sizes))] * len(sizes)
        weight = self.constant(filters, channels, *size)
        bias = [self.constant(filters)] if self.rng.random() < 0.5 else []
        left = (n - k + 1 for n, k in zip(sizes, size, strict=True))
        self.add("Conv", (batch, filters, *left), weight, *bias)

    def pool(self) -> None:
        batch, channels, *sizes = self.shape
        size = [min(2, *sizes)] * len(sizes)
        op = "MaxPool" if len(sizes) == 3 else self.pick("MaxPool", "AveragePool")
        left = (n - k + 1 for n, k in zip(sizes, size, strict=True))
        self.add(op, (batch, channels, *left), kernel_shape=size)

    def dense(self) -> None:
        batch, features = self.shape
        outputs = self.pick(4, 6)
        self.add("Gemm", (batch, outputs), self.constant(features, outputs), self.constant(outputs))

    def per_channel(self) -> None:
        channels, rank = self.shape[1], len(self.shape)
        if rank > 2 and self.rng.random() < 0.3:
            least = (0.5, -1.0, -1.0, 0.5)
            names = [self.constant(channels, least=each) for each in least]
            self.add("BatchNormalization", self.shape, *names)
            return
        other = self.constant(channels, *(1,) * (rank - 2), least=0.5)
        self.add(self.pick("Mul", "Add", "Sub", "Div"), self.shape, other)

    def clamp(self) -> None:
        if self.rng.random() < 0.7:
            self.add("Relu", self.shape)
        else:
            ends = f"c{len(self.constants)}", f"c{len(self.constants) + 1}"
            self.constants |= dict(zip(ends, np.array([0, 6], np.float32), strict=True))
            self.add("Clip", self.shape, *ends)

    def reshape(self) -> None:
        batch, channels, *sizes = self.shape
        count = int(np.prod(sizes))
        choice = self.pick("transpose", "flat", "unsqueeze", "same")
        if choice == "transpose" and sizes:
            order = (0, *range(2, len(self.shape)), 1)
            back = (0, len(self.shape) - 1, *range(1, len(self.shape) - 1))
            shape = self.shape
            self.add("Transpose", tuple(shape[axis] for axis in order), perm=order)
            if self.rng.random() < 0.7:
                self.clamp()
                self.add("Transpose", shape, perm=back)
        elif choice == "flat":
            self._reshape((batch, channels * count))
        elif choice == "unsqueeze" and len(sizes) < 3:
            self._reshape((batch, channels, 1, *sizes))
        elif sizes:
            self._reshape((batch, channels, count))

    def _reshape(self, shape: tuple[int, ...]) -> None:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(shape, np.int64)
        self.add("Reshape", shape, name)

    def model(self) -> onnx.ModelProto:
        """The network. In some, tensors before the last are outputs, too."""
        outputs = [self.last]
        if self.rng.random() < 0.3 and len(self.seen) > 2:
            outputs.append(str(self.pick(*self.seen[1:-1])))
        ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.given)]
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        values = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, "chain", ports, results, values)
        imports = [helper.make_opsetid("", 18)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)


def model(seed: int) -> onnx.ModelProto:
    """The network of a seed."""
    chain = Chain(seed)
    while len(chain.nodes) < 9:
        chain.step()
    return chain.model()


def graph(seed: int, folder: Path) -> Graph:
    """The graph that the frontend makes of the network."""
    path = folder / f"{seed}.onnx"
    onnx.save(model(seed), path)
    return frontends.load(path)
