"""MobileNetV2 and a network with YAMNet's layers as QDQ on an emulated board: every layer equals
the numpy contract, and ONNX Runtime's layers differ by at most 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

import microgen
from scripts import mobilenet_v2, yamnet
from scripts.tflite_to_qdq import converted
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM, pytest.mark.slow]


@pytest.mark.parametrize(
    ("model", "layers"), [(mobilenet_v2.model, 65), (yamnet.model, 30)], ids=["mobilenet", "yamnet"]
)
def test_every_layer_equals_the_contract(
    model: Callable[[], bytes], layers: int, tmp_path: Path
) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(model())
    onnx.save(converted(path), tmp_path / "network.onnx")
    compiled = microgen.generate(tmp_path / "network.onnx", "mps3_an547", tmp_path / "p")
    assert not compiled.graph.in_floats
    by_numpy, by_runtime = microgen.run(tmp_path / "p", compare=True, timeout=300).verdicts
    assert by_numpy.layers is not None
    assert by_numpy.ok, str(by_numpy)
    assert (by_numpy.layers.compared, by_numpy.layers.is_exact) == (layers, True)
    assert by_runtime.ok, str(by_runtime)
    assert not by_runtime.is_skipped
