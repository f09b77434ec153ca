"""Random quantized networks, compared with ONNX Runtime, and one of all layers compiled for this
machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import microgen
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    layer_by_layer,
    loaded,
    sample,
)
from tests.frontends.onnx.quantization.test_quantized_groups import GROUPS
from tests.frontends.onnx.quantization.test_quantized_operators import every_operator

_KINDS = (("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8"))
_MOST = 24  # channels, so that networks remain small

Shape = tuple[int, ...]
Layer = Callable[[Network, str, Shape], tuple[str, Shape]]


def _conv(net: Network, data: str, shape: Shape) -> tuple[str, Shape]:
    _, channels, height, width = shape
    random = net.random
    size = int(min(random.choice([1, 3]), height, width))
    groups = int(random.choice([1, channels]))
    filters = channels if groups > 1 else int(random.integers(1, _MOST))
    weight, scale = net.weight((filters, channels // groups, size, size))
    inputs = [data, weight]
    if random.random() < 0.7:
        inputs.append(net.bias(filters, scale * np.float32(0.05)))
    pads = [int(v) for v in random.integers(0, size // 2 + 1, 4)]
    stride = int(random.choice([1, 2]))
    found = net.add("Conv", inputs, group=groups, pads=pads, strides=[stride, stride])
    sizes = (
        (n + a + b - size) // stride + 1
        for n, a, b in ((height, pads[0], pads[2]), (width, pads[1], pads[3]))
    )
    return _clamped(net, found), (1, filters, *sizes)


def _clamped(net: Network, data: str) -> str:
    kind = net.random.integers(4)
    if kind == 0:
        return net.add("Relu", [data])
    if kind == 1:
        limits = [net.constant(np.float32(v)) for v in sorted(net.random.normal(0, 3, 2))]
        return net.add("Clip", [data, *limits])
    return data


def _function(net: Network, data: str, shape: Shape) -> tuple[str, Shape]:
    op = str(net.random.choice(["Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Relu", "Elu"]))
    return net.add(op, [data]), shape


def _residual(net: Network, data: str, shape: Shape) -> tuple[str, Shape]:
    other, _ = _function(net, data, shape)
    other = net.quantized(other, *_scale(net))
    return net.add(str(net.random.choice(["Add", "Mul", "Sub"])), [other, data]), shape


def _concat(net: Network, data: str, shape: Shape) -> tuple[str, Shape]:
    other, _ = _function(net, data, shape)
    other = net.quantized(other, *_scale(net)) if net.random.random() < 0.5 else other
    n, channels, *size = shape
    return net.add("Concat", [data, other, data], axis=1), (n, 3 * channels, *size)


def _pool(net: Network, data: str, shape: Shape) -> tuple[str, Shape]:
    n, channels, height, width = shape
    if min(height, width) < 2:
        return net.add("GlobalAveragePool", [data]), (n, channels, 1, 1)
    op = str(net.random.choice(["MaxPool", "AveragePool"]))
    found = net.add(op, [data], kernel_shape=[2, 2], strides=[2, 2])
    return found, (n, channels, height // 2, width // 2)


def _scale(net: Network) -> tuple[float, int]:
    return float(net.random.uniform(0.02, 0.1)), int(net.random.integers(-100, 100))


_LAYERS: tuple[Layer, ...] = (_conv, _conv, _function, _residual, _concat, _pool)


def network(seed: int) -> Network:
    """A random network of four layers and a classifier."""
    net = Network(*_KINDS[seed % len(_KINDS)], seed=seed)
    shape: Shape = (1, int(net.random.integers(1, 6)), *map(int, net.random.integers(3, 9, 2)))
    data = net.quantized(net.input(shape), *_scale(net))
    for _ in range(4):
        layer = _LAYERS[net.random.integers(len(_LAYERS))]
        layer = _conv if shape[1] > _MOST else layer
        data, shape = layer(net, data, shape)
        data = net.quantized(data, *_scale(net))
    flat = net.add("Flatten", [data])
    weight, _ = net.weight((5, int(np.prod(shape))))
    net.quantized(net.add("Gemm", [flat, weight], transB=1), *_scale(net))
    return net


def _with_floats(model: onnx.ModelProto) -> dict[str, onnx.NodeProto]:
    """Makes what each QuantizeLinear reads an output, too, and returns these nodes by output."""
    nodes = {n.output[0]: n for n in model.graph.node if n.op_type == "QuantizeLinear"}
    known = {each.name for each in model.graph.input}
    for name in sorted({node.input[0] for node in nodes.values()} - known):
        model.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    return nodes


def _check(seed: int, folder: Path) -> None:
    """Each layer gets what ONNX Runtime computed in the layers before it. Its result is then half
    a step at most from the floats of ONNX Runtime, and the rounding of a bias to steps of sx * sw
    adds to that at most 0.5 * 0.1 * 0.01 / 0.02 = 0.025 with the scales of these networks."""
    net = network(seed)
    model = net.model()
    graph = loaded(model, folder)
    assert not graph.in_floats, dict(graph.in_floats)
    quantizers = _with_floats(model)
    inputs = sample(net)
    expected = {**inputs, **by_onnxruntime(model, inputs)}
    found = layer_by_layer(graph, inputs, {name: expected[name] for name in net.outputs})
    assert set(found) == set(net.outputs)
    for name, values in found.items():
        data, scale, zero = quantizers[name].input
        exact = expected[data] / np.float64(net.constants[scale]) + net.constants[zero]
        limits = np.iinfo(net.dtype)
        apart = abs(values - np.clip(exact, limits.min, limits.max))
        assert apart.max() <= 0.526, (seed, name, apart.max())


@pytest.mark.parametrize("seed", range(12))
def test_random_networks(seed: int, tmp_path: Path) -> None:
    _check(seed, tmp_path)


@pytest.mark.slow
def test_many_random_networks(tmp_path: Path) -> None:
    for seed in range(100, 1100):
        _check(seed, tmp_path)


@pytest.mark.parametrize(
    ("dtype", "weights"),
    [("uint8", "int8"), pytest.param("int8", "int8", marks=pytest.mark.slow)],
)
def test_compiled_layers_equal_their_references(dtype: str, weights: str, tmp_path: Path) -> None:
    net = Network(dtype, weights, seed=1)
    for build, _ in GROUPS.values():
        build(net)
    every_operator(net)
    graph = loaded(net.model(), tmp_path)
    # The usual planner searches long among tensors that have nothing to do with each other.
    microgen.generate(tmp_path / "network.onnx", "native", tmp_path / "p", planner="greedy")
    inputs = sample(net)
    expected = computed(graph, inputs)
    found = microgen.run(tmp_path / "p", inputs).outputs
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
