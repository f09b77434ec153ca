"""QLinearConv and similar operators, ConvInteger and MatMulInteger, compared with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from microgen.base.errors import MicrogenError
from microgen.graph.ir.graph import Graph
from tests.frontends.onnx.quantization.quantized import (
    MICROSOFT,
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
    sample,
)

KINDS = (("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8"))


def _weight(net: Network, shape: tuple[int, ...], axis: int | None) -> list[str]:
    return [net.constant(each) for each in net.stored_weight(shape, axis)]


def _bias(net: Network, count: int) -> str:
    return net.constant(net.random.integers(-2000, 2000, count).astype(np.int32))


def _out(net: Network, op: str, inputs: list[str], *, domain: str = "", **attrs: object) -> str:
    name = net.name("q")
    net.outputs[name] = net.dtype.name
    return net.add(op, inputs, output=name, domain=domain, **attrs)


def every_operator(net: Network) -> None:
    """A network of all of them: convolution, functions, sums, pools, products of matrices."""
    own = {"domain": MICROSOFT}
    first, data = net.scales(0.05, -5), net.input((1, 4, 6, 6), net.dtype.name)
    weight = _weight(net, (8, 4, 3, 3), 0)
    next_ = net.scales(0.06, 4)
    inputs = [data, *first, *weight, *next_, _bias(net, 8)]
    y = [_out(net, "QLinearConv", inputs, pads=[1, 1, 1, 1]), *next_]
    shares = net.scales(1 / 256, -128)
    gate = [_out(net, "QLinearSigmoid", [*y, *shares], **own), *shares]
    scales = net.scales(0.04, 9)
    product = [_out(net, "QLinearMul", [*y, *gate, *scales], **own), *scales]
    total = [_out(net, "QLinearAdd", [*product, *y, *first], **own), *first]
    scales = net.scales(0.07, 1)
    leaky = [_out(net, "QLinearLeakyRelu", [*total, *scales], alpha=0.1, **own), *scales]
    joined = _out(net, "QLinearConcat", [*first, *total, *leaky], axis=1, **own)
    pooled = _out(net, "QLinearAveragePool", [joined, *first, *first], kernel_shape=[2, 2], **own)
    scales = net.scales(0.02, 3)
    mean = _out(net, "QLinearGlobalAveragePool", [pooled, *first, *scales], **own)
    flat = net.add("Flatten", [mean])
    weight = _weight(net, (10, 16), 0)
    gemm = [_out(net, "QGemm", [flat, *scales, *weight, _bias(net, 10), *next_], transB=1, **own)]
    product = [_out(net, "QLinearMatMul", [*gemm, *next_, *_weight(net, (10, 6), None), *first])]
    last = net.scales(1 / 255, -128)
    _out(net, "QLinearSoftmax", [*product, *first, *last], axis=-1, opset=13, **own)


def _checked(net: Network, folder: Path) -> Graph:
    model = net.model()
    graph = loaded(model, folder)
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for name in net.outputs:
        assert found[name].dtype == expected[name].dtype
        assert distance(found[name], expected[name]) <= 2, name
    return graph


@pytest.mark.parametrize(("dtype", "weights"), KINDS)
def test_every_operator_is_computed_in_integers(dtype: str, weights: str, tmp_path: Path) -> None:
    net = Network(dtype, weights, seed=3)
    every_operator(net)
    graph = _checked(net, tmp_path)
    assert not graph.in_floats
    assert not any(node.op in ("qnn.quantize", "qnn.dequantize") for node in graph.nodes)
    assert {"nn.conv2d", "multiply", "add", "nn.avg_pool2d", "mean", "nn.dense"} <= {
        node.op for node in graph.nodes
    }


def test_layers_have_the_names_of_the_operators(tmp_path: Path) -> None:
    net = Network(seed=3)
    every_operator(net)
    graph = loaded(net.model(), tmp_path)
    layers = {node.op: node.origin.layer for node in graph.nodes}
    assert layers["nn.conv2d"] == next(iter(net.outputs))
    assert set(net.outputs) <= {name for node in graph.nodes for name in node.outputs}


def _summed(net: Network, op: str, inputs: list[str], **attrs: object) -> None:
    name = net.add(op, inputs, **attrs)
    net.outputs[name] = "int32"


@pytest.mark.parametrize(("dtype", "weights"), KINDS)
def test_sums_are_int32_numbers(dtype: str, weights: str, tmp_path: Path) -> None:
    net = Network(dtype, weights, seed=5)
    data, zero = net.input((1, 4, 5, 5), dtype), net.scales(1.0, 3)[1]
    values, _, zeros = net.stored_weight((3, 4, 3, 3), None)
    inputs = [data, net.constant(values), zero, net.constant(zeros)]
    _summed(net, "ConvInteger", inputs, pads=[1, 1, 0, 0])
    rows = net.input((6, 500), dtype)
    values, _, zeros = net.stored_weight((500, 7), None)
    _summed(net, "MatMulInteger", [rows, net.constant(values), zero, net.constant(zeros)])
    model, inputs_ = net.model(), sample(net)
    graph = loaded(model, tmp_path)
    assert {"nn.conv2d", "nn.dense"} <= {node.op for node in graph.nodes}
    assert not any(graph.types[node.outputs[0]].dtype.value == "float32" for node in graph.nodes)
    found, expected = computed(graph, inputs_), by_onnxruntime(model, inputs_)
    for name in net.outputs:
        np.testing.assert_array_equal(found[name], expected[name])


def test_weights_of_dynamic_quantization(tmp_path: Path) -> None:
    """Data is quantized with scales that depend on it; sums are exact, and the rest is floats."""
    net = Network("uint8", "int8", seed=6)
    data = net.input((1, 4, 5, 5))
    names = [net.name("d") for _ in range(3)]
    net.nodes.append(onnx.helper.make_node("DynamicQuantizeLinear", [data], names))
    values, scale, zeros = net.stored_weight((3, 4, 3, 3), None)
    inputs = [names[0], net.constant(values), names[2], net.constant(zeros)]
    sums = net.add("ConvInteger", inputs, pads=[1, 1, 1, 1])
    floats = net.add("Cast", [sums], to=onnx.TensorProto.FLOAT)
    scales = net.add("Mul", [names[1], net.constant(scale)])
    net.outputs[net.add("Mul", [floats, scales])] = "float32"
    net.outputs[sums] = "int32"
    model, given = net.model(), sample(net)
    graph = loaded(model, tmp_path)
    assert graph.types[sums].dtype.value == "int32"
    found, expected = computed(graph, given), by_onnxruntime(model, given)
    for name in net.outputs:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5)


def test_computed_matrices_whose_sums_exceed_floats_are_refused(tmp_path: Path) -> None:
    net = Network()
    lhs, rhs = net.input((3, 400), "int8"), net.input((400, 3), "int8")
    _summed(net, "MatMulInteger", [lhs, rhs])
    with pytest.raises(MicrogenError, match="adds 400 products of computed integers"):
        loaded(net.model(), tmp_path)


def test_a_scalar_is_no_factor_of_a_product(tmp_path: Path) -> None:
    net = Network()
    data = net.input((4, 3), "int8")
    net.outputs[net.add("MatMulInteger", [data, net.constant(np.int8(3))])] = "int32"
    with pytest.raises(MicrogenError, match="vectors or matrices are expected"):
        loaded(net.model(), tmp_path)


def test_int32_data_have_no_zero_point(tmp_path: Path) -> None:
    net = Network()
    net.input((4,), "int32")
    names = [net.constant(np.float32(0.1)), net.constant(np.int32(3))]
    net.outputs[net.add("DequantizeLinear", ["x0", *names])] = "float32"
    with pytest.raises(MicrogenError, match="has a zero point of int32 data; 0 is expected"):
        loaded(net.model(), tmp_path)
