"""DequantizeLinear, operators of floats and QuantizeLinear become nodes of integers, whose results
are those of ONNX Runtime, or differ by 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
    sample,
)

Builder = Callable[[Network], None]
GROUPS: dict[str, tuple[Builder, set[str]]] = {}
_PIXELS = (1, 4, 6, 6)


def _group(*ops: str) -> Callable[[Builder], Builder]:
    """A network and the ops that compute it, in addition to conversions and moves."""

    def note(build: Builder) -> Builder:
        GROUPS[build.__name__.strip("_")] = build, set(ops)
        return build

    return note


def _image(net: Network, scale: float = 0.05, zero: int = -5) -> str:
    return net.quantized(net.input(_PIXELS), scale, zero)


def _conv(net: Network, data: str, filters: int = 8, channels: int = 4, **attrs: object) -> str:
    groups = int(attrs.get("group", 1))  # type: ignore[call-overload]
    weight, scale = net.weight((filters, channels // groups, 3, 3))
    bias = net.bias(filters, np.float32(0.05) * scale)
    return net.add("Conv", [data, weight, bias], **attrs)


@_group("nn.conv2d")
def _convolution(net: Network) -> None:
    net.quantized(_conv(net, _image(net), pads=[1, 1, 1, 1]), 0.05, 3)


@_group("nn.conv2d")
def _convolution_and_relu(net: Network) -> None:
    found = net.add("Relu", [_conv(net, _image(net), strides=[2, 2])])
    net.quantized(found, 0.05, -128)


@_group("nn.conv2d")
def _convolution_and_relu_with_room_below_zero(net: Network) -> None:
    net.quantized(net.add("Relu", [_conv(net, _image(net))]), 0.05, -20)


@_group("nn.conv2d", "lookup")
def _convolution_and_any_clip(net: Network) -> None:
    limits = [net.constant(np.float32(-0.7)), net.constant(np.float32(1.3))]
    net.quantized(net.add("Clip", [_conv(net, _image(net)), *limits]), 0.03, -20)


@_group("nn.depthwise_conv2d")
def _depthwise_convolution(net: Network) -> None:
    net.quantized(_conv(net, _image(net), filters=4, group=4, pads=[0, 1, 1, 0]), 0.05, 3)


@_group("nn.conv2d")
def _convolution_with_a_float_bias(net: Network) -> None:
    weight, _ = net.weight((3, 4, 1, 1))
    bias = net.constant(net.random.normal(0, 0.5, 3).astype(np.float32))
    net.quantized(net.add("Conv", [_image(net), weight, bias]), 0.02, 3)


@_group("nn.conv2d")
def _convolution_of_one_axis(net: Network) -> None:
    weight, _ = net.weight((5, 4, 3))
    net.quantized(net.add("Conv", [net.quantized(net.input((1, 4, 9))), weight]), 0.02, 3)


@_group("nn.conv2d_transpose")
def _transposed_convolution(net: Network) -> None:
    weight, _ = net.weight((4, 3, 3, 3), axis=None)
    found = net.add("ConvTranspose", [_image(net), weight], strides=[2, 2])
    net.quantized(found, 0.05, 3)


@_group("nn.dense")
def _gemm(net: Network) -> None:
    weight, scale = net.weight((7, 12))
    data = net.quantized(net.input((2, 12)), 0.04, 9)
    net.quantized(net.add("Gemm", [data, weight, net.bias(7, scale * 0.04)], transB=1), 0.02, 3)


@_group("nn.dense")
def _matmul_with_a_constant(net: Network) -> None:
    weight, _ = net.weight((12, 7), axis=1)
    data = net.quantized(net.input((2, 12)), 0.04, 9)
    net.quantized(net.add("MatMul", [data, weight]), 0.02, 3)


@_group("nn.batch_matmul")
def _matmul_of_two(net: Network) -> None:
    lhs = net.quantized(net.input((2, 3, 4)), 0.04, 9)
    rhs = net.quantized(net.input((2, 4, 5)), 0.03, -30)
    net.quantized(net.add("MatMul", [lhs, rhs]), 0.08, 3)


def _two(net: Network, op: str) -> None:
    lhs = net.quantized(net.input(_PIXELS), 0.04, 9)
    rhs = net.quantized(net.input((1, 4, 1, 1)), 0.03, -30)
    net.quantized(net.add(op, [lhs, rhs]), 0.05, 3)


@_group("add")
def _sum(net: Network) -> None:
    _two(net, "Add")


@_group("subtract")
def _difference(net: Network) -> None:
    _two(net, "Sub")


@_group("multiply")
def _product(net: Network) -> None:
    _two(net, "Mul")


@_group("add")
def _sum_with_a_constant(net: Network) -> None:
    values = net.random.normal(0, 2, (4, 1, 1)).astype(np.float32)
    net.quantized(net.add("Add", [_image(net), net.quantized(net.constant(values))]), 0.05, 3)


@_group("nn.avg_pool2d", "nn.max_pool2d", "mean")
def _pools(net: Network) -> None:
    found = net.add("MaxPool", [_image(net)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    found = net.quantized(found, 0.05, -5)
    found = net.add("AveragePool", [found], kernel_shape=[2, 2], strides=[2, 2])
    found = net.quantized(found, 0.04, -9)
    net.quantized(net.add("GlobalAveragePool", [found]), 0.03, 2)


@_group("mean", "max")
def _reductions(net: Network) -> None:
    found = net.add("ReduceMean", [_image(net)], axes=[2, 3], keepdims=0)
    net.quantized(net.add("GlobalMaxPool", [_image(net)]), 0.05, -5)
    net.quantized(found, 0.02, 7)


@_group("concatenate", "lookup", "nn.conv2d")
def _concatenation(net: Network) -> None:
    parts = [_image(net), _image(net, 0.04, 3), _conv(net, _image(net), pads=[1, 1, 1, 1])]
    net.quantized(net.add("Concat", parts, axis=1), 0.05, -5)


_FUNCTIONS: tuple[tuple[str, dict[str, float]], ...] = (
    ("Sigmoid", {}),
    ("Tanh", {}),
    ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}),
    ("HardSwish", {}),
    ("LeakyRelu", {"alpha": 0.1}),
    ("Elu", {}),
    ("Softplus", {}),
    ("Erf", {}),
    ("Relu", {}),
    ("Abs", {}),
    ("Neg", {}),
)


@_group("lookup")
def _functions(net: Network) -> None:
    for op, attrs in _FUNCTIONS:
        net.quantized(net.add(op, [_image(net)], **attrs), 0.02, -9)


@_group("lookup")
def _chains_of_functions(net: Network) -> None:
    data = _image(net)
    shares = net.add("HardSigmoid", [data])
    net.quantized(net.add("Mul", [data, shares]), 0.04, -60)
    third = net.add("Div", [data, net.constant(np.float32(3))])
    more = net.add("Add", [third, net.constant(np.float32([0.25]))])
    net.quantized(net.add("Exp", [more]), 0.05, -128)
    net.quantized(data, 0.11, 4)


@_group("nn.softmax")
def _softmax(net: Network) -> None:
    data = net.quantized(net.input((3, 10)), 0.07, 4)
    net.quantized(net.add("Softmax", [data], axis=-1), 1 / 256, -128)
    net.quantized(net.add("Softmax", [data], axis=-1), 1 / 250, -128)


@_group("nn.pad", "strided_slice", "take", "concatenate")
def _moves(net: Network) -> None:
    pads = net.constant(np.array([0, 0, 1, 1, 0, 0, 2, 0], np.int64))
    data = net.quantized(net.add("Pad", [_image(net), pads]), 0.05, -5)
    sizes = [net.constant(np.array([], np.float32)), net.constant(np.array([], np.float32))]
    scales = net.constant(np.array([1, 4, 18, 14], np.int64))
    data = net.add(
        "Resize", [data, *sizes, scales], mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )  # fmt: skip
    data = net.add("Transpose", [net.quantized(data, 0.05, -5)], perm=[0, 2, 3, 1])
    shape = net.constant(np.array([18, -1], np.int64))
    data = net.quantized(net.add("Reshape", [data, shape]), 0.05, -5)
    ends = [net.constant(np.array(v, np.int64)) for v in ([1, 0], [17, 50], [0, 1], [2, 1])]
    data = net.quantized(net.add("Slice", [data, *ends]), 0.05, -5)
    rows = net.constant(np.array([3, 1, 1], np.int64))
    net.quantized(net.add("Gather", [data, rows], axis=0), 0.05, -5)
    first, second = net.name("part"), net.name("part")
    split = net.constant(np.array([3, 5], np.int64))
    net.nodes.append(helper.make_node("Split", [data, split], [first, second], axis=0))
    net.quantized(net.add("Concat", [second, first], axis=0), 0.05, -5)


_MOVES = {
    *("layout_transform", "qnn.dequantize", "qnn.quantize", "qnn.requantize", "qnn.rescale"),
    *("reshape", "strided_slice", "transpose"),
}
_KINDS = (("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8"))


@pytest.mark.parametrize(("dtype", "weights"), _KINDS)
@pytest.mark.parametrize("name", GROUPS)
def test_a_group_is_computed_in_integers(
    name: str, dtype: str, weights: str, tmp_path: Path
) -> None:
    build, ops = GROUPS[name]
    net = Network(dtype, weights, seed=len(name))
    build(net)
    model = net.model()
    graph = loaded(model, tmp_path)
    assert not graph.in_floats
    assert ops <= {node.op for node in graph.nodes} <= ops | _MOVES
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for tensor in net.outputs:
        assert found[tensor].dtype == expected[tensor].dtype
        assert distance(found[tensor], expected[tensor]) <= 1, tensor


@pytest.mark.parametrize(
    "name", ["convolution", "gemm", "depthwise_convolution", "sum", "difference", "product"]
)
def test_a_group_of_int16(name: str, tmp_path: Path) -> None:
    """Activations of 16 bits with the zero point 0 have layers of integers, too."""
    build, ops = GROUPS[name]
    net = Network("int16", seed=4)
    build(net)
    model = net.model(opset=21)
    graph = loaded(model, tmp_path)
    assert not graph.in_floats
    assert ops <= {node.op for node in graph.nodes} <= ops | _MOVES
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for tensor in net.outputs:
        assert distance(found[tensor], expected[tensor]) <= 1, tensor


def test_int16_with_another_zero_point_is_computed_in_floats(tmp_path: Path) -> None:
    net = Network(seed=4)
    scales = [net.constant(np.float32(0.01)), net.constant(np.int16(300))]
    stored = net.add("QuantizeLinear", [net.input((3, 5)), *scales])
    floats = net.add("Relu", [net.add("DequantizeLinear", [stored, *scales])])
    last = net.add("QuantizeLinear", [floats, *scales])
    net.outputs = {stored: "int16", last: "int16"}
    model = net.model(opset=21)
    graph = loaded(model, tmp_path)
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for tensor in net.outputs:
        np.testing.assert_array_equal(found[tensor], expected[tensor])


def test_a_bias_that_the_scale_of_sums_cannot_hold_is_added_in_floats(tmp_path: Path) -> None:
    """As it is if all weights of a channel are 0, and so is their scale."""
    net = Network(seed=4)
    values, scale, zeros = net.stored_weight((3, 4, 1, 1), 0)
    scale[1] = 0
    weight = net.add("DequantizeLinear", [net.constant(v) for v in (values, scale, zeros)], axis=0)
    bias = net.constant(np.array([1, 2, -1], np.float32))
    net.quantized(net.add("Conv", [_image(net), weight, bias]), 0.05, 3)
    model = net.model()
    graph, inputs = loaded(model, tmp_path), sample(net)
    assert "which int32 cannot hold" in str([*graph.in_floats.values()])
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for tensor in net.outputs:
        assert distance(found[tensor], expected[tensor]) <= 1, tensor


def _int4(net: Network, dtype: int, shape: tuple[int, ...]) -> list[str]:
    """A weight of 4 bits with a scale for each filter."""
    is_signed = dtype == onnx.TensorProto.INT4
    low = -8 if is_signed else 0
    values = net.random.integers(low, low + 16, shape)
    zeros = np.full(shape[0], low + 8)
    names = [net.name("w"), net.constant(np.float32([0.02] * shape[0])), net.name("z")]
    for name, array in ((names[0], values), (names[2], zeros)):
        net.initialisers.append(helper.make_tensor(name, dtype, array.shape, array.ravel()))
    return names


@pytest.mark.parametrize("dtype", [onnx.TensorProto.INT4, onnx.TensorProto.UINT4])
def test_weights_of_4_bits(dtype: int, tmp_path: Path) -> None:
    net = Network(seed=4)
    weight = net.add("DequantizeLinear", _int4(net, dtype, (6, 4, 3, 3)), axis=0)
    net.quantized(net.add("Conv", [_image(net), weight]), 0.05, 3)
    model = net.model(opset=21)
    graph = loaded(model, tmp_path)
    assert not graph.in_floats
    assert graph.int4
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for tensor in net.outputs:
        assert distance(found[tensor], expected[tensor]) <= 1, tensor
