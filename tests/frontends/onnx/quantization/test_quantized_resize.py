"""Images that are resized linearly between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import DType
from tests.frontends.onnx.quantization.quantized import (
    Network,
    by_onnxruntime,
    computed,
    distance,
    loaded,
    sample,
)


def network(dtype: str, factor: float, scale: float = 0.05, **attrs: Any) -> Network:
    net = Network(dtype, seed=3)
    data = net.quantized(net.input((1, 3, 5, 6)))
    factors = net.constant(np.array([1, 1, factor, factor], np.float32))
    net.quantized(net.add("Resize", [data, "", factors], mode="linear", **attrs), scale)
    return net


@pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())
@pytest.mark.parametrize("mode", ["half_pixel", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize(("dtype", "factor"), [("int8", 2), ("uint8", 4), ("int16", 2)])
def test_whole_factors_are_computed_in_integers(
    dtype: str, factor: float, mode: str, tmp_path: Path
) -> None:
    net = network(dtype, factor, coordinate_transformation_mode=mode)
    model = net.model(opset=21)
    graph = loaded(model, tmp_path)
    inputs = sample(net)
    found, expected = computed(graph, inputs), by_onnxruntime(model, inputs)
    for name in net.outputs:
        assert distance(found[name], expected[name]) <= 1
    assert not graph.in_floats
    (resize,) = (node for node in graph.nodes if node.op == "image.resize2d")
    assert graph.types[resize.outputs[0]].dtype is not DType.FLOAT32


@pytest.mark.parametrize(
    ("factor", "scale", "reason"),
    [
        (7.0, 0.05, "resizes an image at positions that are up to "),
        (2.0, 0.04, "resizes an image and changes its scale or zero point"),
    ],
)
def test_others_are_computed_in_floats(
    factor: float, scale: float, reason: str, tmp_path: Path
) -> None:
    graph = loaded(network("int8", factor, scale).model(opset=21), tmp_path)
    assert any(each.startswith(reason) for each in graph.in_floats.values())
