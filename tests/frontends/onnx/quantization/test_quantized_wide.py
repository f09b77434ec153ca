"""Functions of int16 values between DequantizeLinear and QuantizeLinear, for every value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
)

EVERY = np.arange(-(2**15), 2**15).astype(np.int16).reshape(256, 256)
needs_runtime = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())


def network(op: str, scales: tuple[float, float], **attrs: Any) -> Network:
    net = Network("int16")
    stored = net.input(EVERY.shape, "int16")
    data = net.add("DequantizeLinear", [stored, *net.scales(scales[0], 0)])
    net.quantized(net.add(op, [data], output="found", **attrs), scales[1])
    return net


@needs_runtime
@pytest.mark.parametrize(
    ("op", "scales", "attrs", "by"),
    [
        ("Relu", (1e-4, 1e-4), {}, "clip"),
        ("Relu", (1e-4, 0.7e-4), {}, "clip"),
        ("LeakyRelu", (1e-4, 0.9e-4), {"alpha": 0.1}, "nn.leaky_relu"),
        ("LeakyRelu", (1e-4, 2e-4), {"alpha": -0.3}, "nn.leaky_relu"),
        ("Abs", (3e-4, 2e-4), {}, "abs"),
        ("Identity", (3e-4, 2e-4), {}, "qnn.requantize"),
        ("Sigmoid", (8 / 32767, 1 / 32767), {}, "lookup"),
        ("Sigmoid", (16 / 32767, 2.0**-15), {}, "sigmoid"),
        ("Tanh", (4 / 32767, 1 / 32767), {}, "lookup"),
        ("Elu", (1e-4, 1e-4), {}, "lookup"),
        ("Gelu", (1e-4, 1e-4), {}, "lookup"),
    ],
)
def test_a_function_is_within_1(
    op: str, scales: tuple[float, float], attrs: dict[str, Any], by: str, tmp_path: Path
) -> None:
    net = network(op, scales, **attrs)
    model = net.model(opset=21)
    graph = loaded(model, tmp_path)
    assert [node.op for node in graph.nodes] == [by]
    found, expected = computed(graph, {"x0": EVERY}), by_onnxruntime(model, {"x0": EVERY})
    (name,) = net.outputs
    assert distance(found[name], expected[name]) <= 1
    if scales[0] == scales[1] and op == "Relu":
        assert distance(found[name], expected[name]) == 0


@needs_runtime
@pytest.mark.parametrize("reach", [2, 4, 8, 20])
@pytest.mark.parametrize("op", ["HardSigmoid", "HardSwish"])
def test_bent_functions_are_within_1(op: str, reach: int, tmp_path: Path) -> None:
    net = network(op, (reach / 32767, (1 if op == "HardSigmoid" else reach) / 32767))
    model = net.model(opset=21)
    graph = loaded(model, tmp_path)
    ops = ["qnn.rescale", "maximum", "minimum", *(["multiply"] if op == "HardSwish" else [])]
    assert [node.op for node in graph.nodes] == ops
    found, expected = computed(graph, {"x0": EVERY}), by_onnxruntime(model, {"x0": EVERY})
    (name,) = net.outputs
    assert distance(found[name], expected[name]) <= 1


@pytest.mark.parametrize("numbers", [(np.inf, 0.5), (0.2, 3e38), (-0.2, 0.5)])
def test_unusual_numbers_are_read(numbers: tuple[float, float], tmp_path: Path) -> None:
    net = network("HardSigmoid", (1e-4, 3e-5), alpha=numbers[0], beta=numbers[1])
    assert loaded(net.model(opset=21), tmp_path).nodes


@pytest.mark.parametrize(
    ("op", "scales"),
    [
        ("Tanh", (32 / 32767, 1 / 32767)),
        ("Softsign", (1e-2, 3e-5)),
        ("Erf", (1.0, 1.1)),  # the results are -1, 0 and 1, so one step would be all of them
    ],
)
def test_a_function_that_a_table_cannot_hold_is_in_floats(
    op: str, scales: tuple[float, float], tmp_path: Path
) -> None:
    graph = loaded(network(op, scales).model(opset=21), tmp_path)
    (reason,) = graph.in_floats.values()
    assert reason.startswith("interpolated between 513 entries of a table, is up to ")
