"""Softmax between DequantizeLinear and QuantizeLinear is within 1 of ONNX Runtime: in integers
where these are near enough to the steps of the output, otherwise in floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import Array
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
)

_DATA_SCALE = 0.07


def _rows(count: int) -> Array:
    """Random rows, and rows of one large value and many equal ones: so many of them are rounded
    the same way that the sum of their exponentials is as far off as it can be."""
    random = np.random.default_rng(count).integers(-128, 128, (50, count))
    equal = np.tile(np.arange(-128, 127)[:, None], count)
    equal[:, 0] = 127
    return np.concatenate([random, equal]).astype(np.int8)


@pytest.mark.parametrize(
    ("count", "scale", "is_float"),
    [
        (10, 1 / 256, False),
        (10, 2.0**-15, False),
        (10, 2.0**-16, True),
        (10, 1e-6, True),
        (1000, 1 / 1024, False),
        (1000, 1 / 2048, True),
    ],
)
def test_softmax_is_within_1(count: int, scale: float, is_float: bool, tmp_path: Path) -> None:
    rows = _rows(count)
    net = Network()
    data = net.input(rows.shape, "int8")
    scales = [net.constant(np.float32(_DATA_SCALE)), net.constant(np.int8(0))]
    floats = net.add("DequantizeLinear", [data, *scales])
    net.quantized(net.add("Softmax", [floats], axis=-1), scale, -128)
    model = net.model()
    graph = loaded(model, tmp_path)
    (softmax,) = (node for node in graph.nodes if node.op == "nn.softmax")
    assert (softmax.outputs[0] in graph.in_floats) == is_float
    found, expected = computed(graph, {data: rows}), by_onnxruntime(model, {data: rows})
    (name,) = net.outputs
    assert distance(found[name], expected[name]) <= 1
