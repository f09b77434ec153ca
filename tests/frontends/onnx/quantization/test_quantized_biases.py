"""Biases of quantized layers whose sums have coarse steps beside those of the output: floats, or
integers with a scale of their own. Results differ from ONNX Runtime's by 1 at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from microgen.graph.ir.graph import Array, DType, Graph
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
    sample,
)

_PIXELS = (1, 4, 7, 6)
_WEIGHTS = {  # -> values, and how many of them are 0
    "ternary": ([-1, 0, 1], 0.0),
    "2 bits": ([-2, -1, 0, 1], 0.0),
    "4 bits": ([*range(-8, 8)], 0.6),
    "8 bits": ([-128, -90, -3, -2, -1, 1, 2, 3, 127], 0.8),
}


@dataclass(frozen=True)
class _Form:
    """A layer: the operator, the weight's shape and axis of channels, and its attributes."""

    op: str
    weight: tuple[int, ...]
    axis: int
    attrs: dict[str, object]
    data: tuple[int, ...] = _PIXELS
    add: tuple[int, ...] = ()  # shape of a bias that an Add of its own adds

    @property
    def channels(self) -> int:
        """The number of output channels."""
        each = self.weight[self.axis]
        is_transposed = self.op == "ConvTranspose"
        return each * int(self.attrs.get("group", 1)) if is_transposed else each  # type: ignore[call-overload]


_FORMS = {
    "Conv": _Form("Conv", (5, 4, 3, 2), 0, {"pads": [1, 0, 1, 1]}),
    "Conv, one axis": _Form("Conv", (5, 4, 3), 0, {}, (1, 4, 9)),
    "Conv, three axes": _Form("Conv", (3, 2, 2, 2, 2), 0, {}, (1, 2, 4, 3, 3)),
    "Conv, grouped": _Form("Conv", (6, 2, 3, 3), 0, {"group": 2}),
    "Conv, depthwise": _Form("Conv", (8, 1, 3, 3), 0, {"group": 4, "strides": [2, 1]}),
    "ConvTranspose": _Form("ConvTranspose", (4, 5, 3, 3), 1, {"strides": [2, 2]}),
    "ConvTranspose, stride 1": _Form("ConvTranspose", (4, 5, 3, 3), 1, {}),
    "ConvTranspose, grouped": _Form(
        "ConvTranspose", (4, 3, 3, 3), 1, {"group": 2, "strides": [2, 2]}
    ),
    "Gemm": _Form("Gemm", (7, 12), 0, {"transB": 1}, (3, 12)),
    "Gemm, beta": _Form("Gemm", (12, 7), 1, {"beta": 0.5}, (3, 12)),
    "MatMul and Add": _Form("MatMul", (12, 7), 1, {}, (3, 12), (7,)),
    "Conv and Add": _Form("Conv", (5, 4, 3, 3), 0, {}, _PIXELS, (5, 1, 1)),
}
_CLAMPS: dict[str, tuple[float, ...]] = {
    "": (),
    "Relu": (),
    "Clip": (-0.3, 0.9),
    "Relu6": (0.0, 6.0),
}


def _weight(net: Network, form: _Form, kind: str, per_channel: bool) -> tuple[str, Array]:
    """A weight of that kind as floats, and its scales."""
    values, zeros = _WEIGHTS[kind]
    stored = net.random.choice(values, form.weight)
    stored = np.where(net.random.random(form.weight) < zeros, 0, stored)
    is_split = per_channel and "group" not in form.attrs | {"group": form.op == "Conv"}
    count = form.weight[form.axis] if is_split or (per_channel and form.op == "Conv") else 1
    scale = np.exp2(net.random.uniform(-3, 1, count)).astype(np.float32)
    scale = scale if count > 1 else scale.reshape(())
    names = [net.name("w"), net.constant(scale), net.name("z")]
    is_unsigned = net.weights == np.uint8
    zero = np.full(scale.shape, 128 if is_unsigned else 0)
    if kind == "4 bits" and not is_unsigned:
        int4 = onnx.TensorProto.INT4
        for name, array in ((names[0], stored), (names[2], zero)):
            made = helper.make_tensor(name, int4, array.shape, array.ravel())
            net.initialisers.append(made)
    else:
        net.constants[names[0]] = (stored + zero.reshape(-1)[0]).astype(net.weights)
        net.constants[names[2]] = zero.astype(net.weights)
    return net.add("DequantizeLinear", names, axis=form.axis), scale


def _bias(net: Network, form: _Form, values: Array, steps: Array) -> str:
    """A constant bias: floats, or int32 with a scale that is not that of the sums."""
    values = values.astype(np.float32)
    if net.random.random() < 0.5:
        return net.constant(values.reshape(form.add or values.shape))
    if net.random.random() < 0.5:
        scale = np.float32(net.random.uniform(1e-4, 1e-3))
        zero = np.int32(0)
    else:
        scale = (steps * net.random.uniform(0.01, 3, len(values))).astype(np.float32)
        zero = np.zeros(len(values), np.int32)
    stored = np.rint(values / scale).astype(np.int32)
    shape = form.add or stored.shape
    names = [net.constant(v) for v in (stored.reshape(shape), scale, zero)]
    return net.add("DequantizeLinear", names, axis=0)


def _layer(net: Network, form: _Form, kind: str, clamp: str) -> None:
    """A layer whose sums have steps from 1/32 of the output's to 32 of them."""
    random = net.random
    sx = float(np.float32(random.uniform(0.3, 1.5)))
    data = net.quantized(net.input(form.data), sx, int(random.integers(-9, 9)))
    if random.random() < 0.5:
        data = net.quantized(net.add("Relu", [data]), sx, int(random.integers(-100, -60)))
    weight, scale = _weight(net, form, kind, per_channel=bool(random.integers(2)))
    steps = np.broadcast_to(np.float32(sx) * scale, form.channels)
    sy = float(steps.max() * np.exp2(random.uniform(-5, 5)))
    values = random.uniform(-50, 50, form.channels) * sy
    operands = [data, weight]
    if not form.add:
        operands.append(_bias(net, form, values, steps))
    found = net.add(form.op, operands, **form.attrs)
    if form.add:
        found = net.add("Add", [found, _bias(net, form, values, steps)])
    if clamp:
        limits = [net.constant(np.float32(limit)) for limit in _CLAMPS[clamp]]
        found = net.add("Clip" if limits else clamp, [found, *limits])
    net.quantized(found, sy, int(random.integers(-20, 20)))


def _judged(net: Network, folder: Path) -> tuple[Graph, Array]:
    """The graph, and how many stored values of the last layer are no limits of its dtype."""
    model = net.model(21)
    graph = loaded(model, folder)
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for name in net.outputs:
        assert distance(found[name], expected[name]) <= 1, name
    limits, values = np.iinfo(net.dtype), expected[[*net.outputs][-1]]
    return graph, np.count_nonzero((values > limits.min) & (values < limits.max))


_DTYPES = (("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8"), ("int16", "int8"))


def _check(seeds: Sequence[int], folder: Path) -> dict[str, int]:
    """How many layers were computed in which way, and how many values were inside."""
    ways = {"inside": 0, "integers": 0, "sums": 0, "floats": 0}
    for seed in seeds:
        form = list(_FORMS.values())[seed % len(_FORMS)]
        kind = list(_WEIGHTS)[seed // len(_FORMS) % len(_WEIGHTS)]
        net = Network(*_DTYPES[seed // 5 % len(_DTYPES)], seed=seed)
        _layer(net, form, kind, list(_CLAMPS)[seed // 7 % len(_CLAMPS)])
        graph, inside = _judged(net, folder)
        is_sums = any(graph.types[node.outputs[0]].dtype is DType.INT32 for node in graph.nodes)
        ways["sums" if is_sums else "floats" if graph.in_floats else "integers"] += 1
        ways["inside"] += int(inside)
    return ways


def test_random_layers_are_within_1_of_onnxruntime(tmp_path: Path) -> None:
    ways = _check(range(144), tmp_path)
    assert min(ways.values()) >= 10, ways


@pytest.mark.slow
def test_many_random_layers_are_within_1_of_onnxruntime(tmp_path: Path) -> None:
    ways = _check(range(144, 5000), tmp_path)
    assert min(ways.values()) >= 300, ways


def _classifier(seed: int) -> Network:
    """Layers of 2-bit data and weights with biases of floats, and scores with many more bits. Its
    input is 300 samples."""
    net = Network("uint8", "int8", seed=seed)
    steps = [net.constant(np.float32(1)), net.constant(np.uint8(0))]
    ends = [net.constant(np.uint8(end)) for end in (0, 3)]
    found, depth = net.input((300, 12)), 12
    for units in (16, 5):
        stored = net.add("QuantizeLinear", [found, *steps])
        data = net.add("DequantizeLinear", [net.add("Clip", [stored, *ends]), *steps])
        values = net.random.choice([-1, 0, 1], (units, depth)).astype(np.int8)
        names = [net.constant(each) for each in (values, np.float32(0.5), np.int8(0))]
        bias = net.constant(net.random.normal(0, 0.4, units).astype(np.float32))
        weight = net.add("DequantizeLinear", names)
        found, depth = net.add("Gemm", [data, weight, bias], transB=1), units
    net.quantized(found, 0.08)
    return net


def test_a_classifier_of_2_bits_finds_the_same_classes(tmp_path: Path) -> None:
    """Classes, because sums are so coarse that biases decide between many of them."""
    for seed in range(4):
        net = _classifier(seed)
        model, inputs = net.model(), sample(net)
        graph = loaded(model, tmp_path)
        found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
        (scores,) = net.outputs
        assert distance(found[scores], expected[scores]) <= 1
        classes = expected[scores].argmax(axis=1)
        np.testing.assert_array_equal(found[scores].argmax(axis=1), classes)
        assert len(set(classes)) > 2
        assert not graph.in_floats
