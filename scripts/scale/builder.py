"""Builds .onnx networks with QuantizeLinear and DequantizeLinear: int8, with random weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_OPSET = 17
_SCALE = np.float32(0.05)


@dataclass
class Net:
    """A network in the making: int8 activations in NCHW with one scale."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def input(self, *shape: int) -> str:
        """A float32 input, quantized."""
        self.constants |= {"scale": np.asarray(_SCALE), "zero": np.zeros((), np.int8)}
        self.shapes["input"] = shape
        return self._quantized("input", shape)

    def conv(
        self,
        data: str,
        count: int,
        size: int = 3,
        stride: int = 1,
        groups: int = 1,
        *,
        relu: bool = True,
    ) -> str:
        """A convolution with a bias, padded to keep the size."""
        _, depth, height, width = self.shapes[data]
        name = f"layer{len(self.nodes)}"
        shape = (count, depth // groups, size, size)
        weights = [
            self._constant(f"{name}_w", self.random.integers(-127, 128, shape).astype(np.int8)),
            self._constant(f"{name}_ws", self.random.uniform(2e-3, 1e-2, count).astype(np.float32)),
            self._constant(f"{name}_wz", np.zeros(count, np.int8)),
        ]
        floats = self._node("DequantizeLinear", *weights, axis=0)
        bias = self.random.normal(0, 0.5, count).astype(np.float32)
        inputs = self._floats(data), floats, self._constant(f"{name}_b", bias)
        pads = [size // 2] * 4
        sums = self._node("Conv", *inputs, pads=pads, strides=[stride] * 2, group=groups)
        result = count, -(-height // stride), -(-width // stride)
        return self._quantized(self._node("Relu", sums) if relu else sums, (1, *result))

    def pool(self, data: str) -> str:
        """The maximum of 2 x 2."""
        _, depth, height, width = self.shapes[data]
        floats = self._node("MaxPool", self._floats(data), kernel_shape=[2, 2], strides=[2, 2])
        return self._quantized(floats, (1, depth, height // 2, width // 2))

    def doubled(self, data: str) -> str:
        """An image of twice the height and width."""
        _, depth, height, width = self.shapes[data]
        scales = self._constant("doubled", np.array([1, 1, 2, 2], np.float32))
        options = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}
        floats = self._node("Resize", self._floats(data), "", scales, **options)
        return self._quantized(floats, (1, depth, 2 * height, 2 * width))

    def add(self, left: str, right: str) -> str:
        """The sum."""
        floats = self._node("Add", self._floats(left), self._floats(right))
        return self._quantized(floats, self.shapes[left])

    def joined(self, *parts: str) -> str:
        """Channels after each other."""
        _, _, height, width = self.shapes[parts[0]]
        depth = sum(self.shapes[part][1] for part in parts)
        floats = self._node("Concat", *map(self._floats, parts), axis=1)
        return self._quantized(floats, (1, depth, height, width))

    def model(self, last: str) -> onnx.ModelProto:
        """The whole, with ``last`` as floats for its output."""
        floats = self._floats(last)
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("input", self.shapes["input"]), (floats, self.shapes[last]))
        ]
        constants = [numpy_helper.from_array(each, name) for name, each in self.constants.items()]
        graph = helper.make_graph(self.nodes, "network", ends[:1], ends[1:], constants)
        opsets = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def _constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = value
        return name

    def _node(self, op: str, *inputs: str, **attributes: object) -> str:
        output = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def _quantized(self, floats: str, shape: tuple[int, ...]) -> str:
        stored = self._node("QuantizeLinear", floats, "scale", "zero")
        self.shapes[stored] = shape
        return stored

    def _floats(self, stored: str) -> str:
        return self._node("DequantizeLinear", stored, "scale", "zero")
