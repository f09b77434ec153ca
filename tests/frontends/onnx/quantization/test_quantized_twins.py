"""MLPerf Tiny's int8 networks as QDQ twins of the .tflite files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen import frontends
from microgen.compiler import passes
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from scripts.tflite_to_qdq import converted
from tests.frontends.onnx.quantization.quantized import loaded

NETWORKS = ("kws_ref_model", "ad01_int8", "vww_96_int8", "pretrainedResnet_quant")


@pytest.mark.parametrize("name", NETWORKS)
def test_a_twin_has_the_same_nodes_and_outputs(
    name: str, mlperf_models: Path, tmp_path: Path
) -> None:
    """Integers may differ by 1, because the profiles round differently, and by more after many
    layers and a softmax. The passes leave the same nodes, apart from views."""
    path = mlperf_models / f"{name}.tflite"
    tflite, onnx = frontends.load(path), loaded(converted(path), tmp_path)
    assert not onnx.in_floats
    assert _ops(onnx) == _ops(tflite)
    (output,) = tflite.outputs
    random = np.random.default_rng(len(name))
    values = {n: _random(random, tflite, n) for n in tflite.inputs}
    found, expected = (evaluate(g, values, registry())[output] for g in (onnx, tflite))
    assert abs(found.astype(int) - expected).max() <= 8
    assert found.argmax() == expected.argmax()


def _random(random: np.random.Generator, graph: Graph, name: str) -> np.ndarray:
    return random.integers(-128, 128, graph.types[name].shape).astype(np.int8)


def _ops(graph: Graph) -> list[str]:
    views = ("reshape", "layout_transform", "transpose")
    return [node.op for node in passes.run(graph).nodes if node.op not in views]
