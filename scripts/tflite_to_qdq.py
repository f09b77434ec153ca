"""Writes a quantized .tflite network as .onnx with QuantizeLinear and DequantizeLinear.

    python scripts/tflite_to_qdq.py MODEL.tflite MODEL.onnx

The network has the same integers, scales and zero points, in NCHW. It is for tests, which compare
the two: it converts the operators of MLPerf Tiny's networks, MobileNetV2 and YAMNet only.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from microgen import frontends
from microgen.compiler.passes.padding import canonical_padding
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs

OPSET = 17
_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
_ELEMENTS = {DType.INT8: onnx.TensorProto.INT8, DType.FLOAT32: onnx.TensorProto.FLOAT}


@dataclass
class _Writer:
    """The model so far. Floats of activations are in NCHW if they have four axes."""

    graph: Graph
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    floats: dict[str, str] = field(default_factory=dict)

    def add(self, op: str, inputs: list[str], output: str, **attrs: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attrs))
        return output

    def constant(self, name: str, value: Array) -> str:
        self.constants[name] = value
        return name

    def scales(self, name: str) -> list[str]:
        """Scale and zero point of a tensor."""
        kind = self.graph.types[name]
        assert kind.quant is not None
        shape = () if kind.quant.is_per_tensor else (-1,)
        scale = np.array(kind.quant.scale, np.float32).reshape(shape)
        zero = np.array(kind.quant.zero_point, kind.dtype.value).reshape(shape)
        return [self.constant(f"{name}_scale", scale), self.constant(f"{name}_zero_point", zero)]

    def dequantized(self, name: str) -> str:
        """A tensor of the network as floats, in NCHW."""
        if name not in self.floats:
            found = self.add("DequantizeLinear", [name, *self.scales(name)], f"{name}_float")
            # Only inputs are in NHWC: results of layers are computed in NCHW.
            if name in self.graph.inputs and len(self.graph.types[name].shape) == 4:
                found = self.add("Transpose", [found], f"{name}_nchw", perm=_TO_NCHW)
            self.floats[name] = found
        return self.floats[name]

    def weight(self, name: str, axes: tuple[int, ...], axis: int) -> str:
        """A constant as floats, with its axes in another order and scales along ``axis``."""
        stored = self.constant(f"{name}_stored", self.graph.constants[name].transpose(axes))
        operands = [stored, *self.scales(name)]
        return self.add("DequantizeLinear", operands, f"{name}_float", axis=axis)

    def bias(self, node: Node) -> list[str]:
        """The bias of a layer, in the scale of its sums."""
        if len(node.inputs) < 3:
            return []
        data, weight, name = node.inputs
        of_weight = np.array(self.graph.types[weight].quant.scale, np.float32)  # type: ignore[union-attr]
        values = self.graph.constants[name]
        scale = np.broadcast_to(np.float32(self.graph.types[data].scale) * of_weight, values.shape)
        operands = [
            self.constant(f"{name}_stored", values),
            self.constant(f"{name}_scale", np.ascontiguousarray(scale)),
            self.constant(f"{name}_zero_point", np.zeros(values.shape, np.int32)),
        ]
        return [self.add("DequantizeLinear", operands, f"{name}_float", axis=0)]

    def finish(self, node: Node, found: str, activation: Activation = Activation.NONE) -> None:
        """Clamp and quantize a layer's result."""
        output = node.outputs[0]
        if activation is Activation.RELU:
            found = self.add("Relu", [found], f"{output}_relu")
        elif activation is not Activation.NONE:
            limits = [self.constant(f"{output}_{v}", np.array(v, np.float32)) for v in (0, 6)]
            found = self.add("Clip", [found, *limits], f"{output}_relu6")
        self.add("QuantizeLinear", [found, *self.scales(output)], output)


def _conv(writer: _Writer, node: Node, attrs: Conv2DAttrs | DepthwiseConv2DAttrs) -> None:
    data, weight = node.inputs[:2]
    is_depthwise = node.op == "nn.depthwise_conv2d"
    # TFLite has 1HWC for depthwise weights and OHWI for others, ONNX OIHW for both.
    axes = (3, 0, 1, 2) if is_depthwise else _TO_NCHW
    inputs = [writer.dequantized(data), writer.weight(weight, axes, 0), *writer.bias(node)]
    groups = writer.graph.types[data].shape[3] if is_depthwise else 1
    shape = writer.graph.types[weight].shape
    found = writer.add(
        "Conv",
        inputs,
        f"{node.outputs[0]}_sums",
        group=groups,
        kernel_shape=shape[1:3],
        strides=attrs.strides,
        dilations=attrs.dilation,
        pads=attrs.padding,
    )
    writer.finish(node, found, attrs.activation)


def _dense(writer: _Writer, node: Node, attrs: DenseAttrs) -> None:
    data, weight = node.inputs[:2]
    inputs = [writer.dequantized(data), writer.weight(weight, (0, 1), 0), *writer.bias(node)]
    found = writer.add("Gemm", inputs, f"{node.outputs[0]}_sums", transB=1)
    writer.finish(node, found, attrs.activation)


def _pool(writer: _Writer, node: Node, attrs: AvgPool2DAttrs) -> None:
    window = {"kernel_shape": attrs.pool_size, "strides": attrs.strides, "pads": attrs.padding}
    data = writer.dequantized(node.inputs[0])
    found = writer.add("AveragePool", [data], f"{node.outputs[0]}_mean", **window)
    writer.finish(node, found, attrs.activation)


def _reshape(writer: _Writer, node: Node, _attrs: Attrs) -> None:
    source, output = node.inputs[0], node.outputs[0]
    data, kinds = writer.dequantized(source), writer.graph.types
    # A 1x1 image has its elements in one order in both layouts.
    if len(kinds[source].shape) == 4 and max(kinds[source].shape[1:3]) > 1:
        data = writer.add("Transpose", [data], f"{output}_nhwc", perm=_TO_NHWC)
    shape = writer.constant(f"{output}_shape", np.array(kinds[output].shape, np.int64))
    found = writer.add("Reshape", [data, shape], f"{output}_moved")
    if len(kinds[output].shape) == 4:
        found = writer.add("Transpose", [found], f"{output}_nchw", perm=_TO_NCHW)
    writer.finish(node, found)


def _add(writer: _Writer, node: Node, attrs: Attrs) -> None:
    inputs = [writer.dequantized(name) for name in node.inputs]
    found = writer.add("Add", inputs, f"{node.outputs[0]}_sum")
    writer.finish(node, found, attrs.activation)  # type: ignore[attr-defined]


def _mean(writer: _Writer, node: Node, attrs: MeanAttrs) -> None:
    """Over height and width, or all axes of an NCHW tensor that are moved alike."""
    data = writer.graph.types[node.inputs[0]]
    axes = attrs.axes if len(data.shape) != 4 else tuple(_TO_NHWC[axis] for axis in attrs.axes)
    found = writer.add(
        "ReduceMean",
        [writer.dequantized(node.inputs[0])],
        f"{node.outputs[0]}_mean",
        axes=axes,
        keepdims=int(attrs.keep_dims),
    )
    writer.finish(node, found)


def _sigmoid(writer: _Writer, node: Node, _attrs: Attrs) -> None:
    found = writer.add("Sigmoid", [writer.dequantized(node.inputs[0])], f"{node.outputs[0]}_found")
    writer.finish(node, found)


def _softmax(writer: _Writer, node: Node, _attrs: SoftmaxAttrs) -> None:
    found = writer.add(
        "Softmax", [writer.dequantized(node.inputs[0])], f"{node.outputs[0]}_shares", axis=-1
    )
    writer.finish(node, found)


_OPERATORS = {
    "add": _add,
    "mean": _mean,
    "nn.avg_pool2d": _pool,
    "nn.conv2d": _conv,
    "nn.dense": _dense,
    "nn.depthwise_conv2d": _conv,
    "nn.softmax": _softmax,
    "reshape": _reshape,
    "sigmoid": _sigmoid,
}


def converted(path: Path) -> onnx.ModelProto:
    """The network in an int8 .tflite file as an ONNX model. KeyError for other operators."""
    graph = canonical_padding(frontends.load(path))
    writer = _Writer(graph)
    for node in graph.nodes:
        _OPERATORS[node.op](writer, node, node.attrs)  # type: ignore[operator]
    made = helper.make_graph(
        writer.nodes,
        path.stem,
        [_info(name, graph.types[name]) for name in graph.inputs],
        [_info(name, graph.types[name]) for name in graph.outputs],
        [numpy_helper.from_array(value, name) for name, value in writer.constants.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def _info(name: str, kind: ArrayType) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, _ELEMENTS[kind.dtype], kind.shape)


def main() -> None:
    """Convert the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tflite", type=Path)
    parser.add_argument("onnx", type=Path)
    options = parser.parse_args()
    onnx.save(converted(options.tflite), options.onnx)


if __name__ == "__main__":
    main()
