"""The network with YAMNet's layers that a script writes: shapes, and integers as QDQ."""

from __future__ import annotations

from pathlib import Path

from microgen import frontends
from scripts import yamnet
from scripts.tflite_to_qdq import converted
from tests.frontends.onnx.quantization.quantized import loaded


def test_its_layers_and_those_of_its_twin(tmp_path: Path) -> None:
    path = tmp_path / "yamnet.tflite"
    path.write_bytes(yamnet.model(0.25))
    graph, twin = frontends.load(path), loaded(converted(path), tmp_path)
    assert [graph.types[name].shape for name in graph.inputs] == [(1, 96, 64, 1)]
    assert [graph.types[name].shape for name in graph.outputs] == [(1, 521)]
    assert sum(node.op == "nn.depthwise_conv2d" for node in graph.nodes) == len(yamnet.STAGES)
    assert not twin.in_floats
    assert {node.op for node in twin.nodes} >= {"nn.conv2d", "mean", "nn.dense", "lookup"}
