"""Writes quantized ONNX networks: float operators between DequantizeLinear and QuantizeLinear, and
operators of quantized tensors. Compares what microgen reads from them with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from microgen import frontends
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate, evaluate_node
from microgen.graph.ops import registry

MICROSOFT = "com.microsoft"
_ELEMENTS = {
    "float32": onnx.TensorProto.FLOAT,
    "int8": onnx.TensorProto.INT8,
    "uint8": onnx.TensorProto.UINT8,
    "int16": onnx.TensorProto.INT16,
    "int32": onnx.TensorProto.INT32,
}


class Network:
    """A model while it is written. ``dtype`` is that of its activations, ``weights`` that of its
    weights. Tensors of stored integers are called q0, q1 and so on."""

    def __init__(self, dtype: str = "int8", weights: str = "int8", seed: int = 0) -> None:
        self.dtype, self.weights = np.dtype(dtype), np.dtype(weights)
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.initialisers: list[onnx.TensorProto] = []
        self.inputs: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.outputs: dict[str, str] = {}
        self._count = 0

    def name(self, hint: str) -> str:
        """A name that nothing has yet."""
        self._count += 1
        return f"{hint}{self._count}"

    def add(self, op: str, inputs: list[str], **attrs: Any) -> str:
        """The result of a further node."""
        output = str(attrs.pop("output", self.name(op.lower())))
        self.nodes.append(helper.make_node(op, inputs, [output], **attrs))
        return output

    def constant(self, value: Any) -> str:
        """A new initialiser."""
        name = self.name("c")
        self.constants[name] = np.asarray(value)
        return name

    def input(self, shape: tuple[int, ...], dtype: str = "float32") -> str:
        """A new input."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = (dtype, shape)
        return name

    def scales(self, scale: float, zero: int) -> list[str]:
        """Scale and zero point of activations; ``zero`` is that of int8."""
        shift = 128 if self.dtype == np.uint8 else 0
        zero = 0 if self.dtype == np.int16 else zero + shift
        return [self.constant(np.float32(scale)), self.constant(self.dtype.type(zero))]

    def quantized(self, data: str, scale: float = 0.05, zero: int = 0) -> str:
        """Floats after QuantizeLinear and DequantizeLinear."""
        scales = self.scales(scale, zero)
        stored = self.add("QuantizeLinear", [data, *scales], output=self.name("q"))
        self.outputs[stored] = self.dtype.name
        return self.add("DequantizeLinear", [stored, *scales])

    def weight(self, shape: tuple[int, ...], axis: int | None = 0) -> tuple[str, Array]:
        """A constant weight as floats, and its scales: one, or one for each index of ``axis``."""
        values, scale, zero = self.stored_weight(shape, axis)
        names = [self.constant(each) for each in (values, scale, zero)]
        return self.add("DequantizeLinear", names, axis=axis or 0), scale

    def stored_weight(self, shape: tuple[int, ...], axis: int | None) -> tuple[Array, Array, Array]:
        """Values, scales and zero points of a weight. The values are so small that two products
        fit int16, as ONNX Runtime needs them on some processors."""
        count = () if axis is None else shape[axis]
        scale = self.random.uniform(0.002, 0.01, count).astype(np.float32)
        values = self.random.integers(-60, 61, shape)
        zero = 128 if self.weights == np.uint8 else 0
        zeros = np.full(count, zero, self.weights)
        return (values + zero).astype(self.weights), np.asarray(scale), zeros

    def bias(self, count: int, scale: Array) -> str:
        """A constant int32 bias as floats."""
        values = self.random.integers(-2000, 2000, count).astype(np.int32)
        scales = np.broadcast_to(scale.astype(np.float32), (count,)).copy()
        zeros = np.zeros(count, np.int32)
        names = [self.constant(each) for each in (values, scales, zeros)]
        return self.add("DequantizeLinear", names, axis=0)

    def model(self, opset: int = 17) -> onnx.ModelProto:
        """The model; all stored integers are outputs."""
        graph = helper.make_graph(
            self.nodes,
            "network",
            [
                helper.make_tensor_value_info(n, _ELEMENTS[d], s)
                for n, (d, s) in self.inputs.items()
            ],
            [helper.make_tensor_value_info(n, _ELEMENTS[d], None) for n, d in self.outputs.items()],
            [numpy_helper.from_array(v, name) for name, v in self.constants.items()]
            + self.initialisers,
        )
        imports = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def _info(name: str, dtype: str, shape: tuple[int, ...] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, _ELEMENTS[dtype], shape)


def loaded(model: onnx.ModelProto, folder: Path) -> Graph:
    """The graph that microgen reads."""
    path = folder / "network.onnx"
    path.write_bytes(model.SerializeToString())
    return frontends.load(path)


def sample(network: Network) -> dict[str, Array]:
    """Random values of the inputs."""
    found = {}
    for name, (dtype, shape) in network.inputs.items():
        if dtype == "float32":
            found[name] = network.random.normal(0, 2, shape).astype(np.float32)
        else:
            limits = np.iinfo(dtype)
            found[name] = network.random.integers(limits.min, limits.max + 1, shape).astype(dtype)
    return found


def computed(graph: Graph, inputs: dict[str, Array]) -> dict[str, Array]:
    """The outputs by microgen's references."""
    values = evaluate(graph, inputs, registry())
    return {name: values[name] for name in graph.outputs}


def layer_by_layer(
    graph: Graph, inputs: dict[str, Array], expected: dict[str, Array]
) -> dict[str, Array]:
    """The outputs by microgen's references, each computed from the ``expected`` outputs before it.

    An output of uint8 is computed as int8, and the next layers read that.
    """
    ops = registry()
    values = {**graph.constants, **inputs}
    found = {}
    for node in graph.nodes:
        results = evaluate_node(node, graph, values, ops)
        for name, result in zip(node.outputs, results, strict=True):
            output = name.removesuffix("#int8")
            right = expected.get(output)
            if right is not None:
                shift = 128 if output != name else 0
                found[output] = (result.astype(np.int64) + shift).astype(right.dtype)
                result = (right.astype(np.int64) - shift).astype(result.dtype)
            values[name] = result
    return found


def by_onnxruntime(model: onnx.ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    """The outputs by ONNX Runtime, without its optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def distance(found: Array, expected: Array) -> int:
    """The largest difference of stored integers."""
    return int(abs(found.astype(np.int64) - expected.astype(np.int64)).max())
