"""The shipped result of examples/pytorch: it reads digits, in integers, as ONNX Runtime does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.frontends.onnx.ort import OnnxRuntime
from microgen.ir.graph import DType
from tests.tools import NEEDS_NINJA

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pytorch"
MODEL = EXAMPLE / "digits_qdq.onnx"
DIGITS = EXAMPLE.parent / "digits"


def _images() -> dict[str, np.ndarray]:
    """The images of the other example, of 8 x 8 values from 0 to 16 (here to 1)."""
    with np.load(DIGITS / "test_samples.npz") as stored:
        images = stored["image"]
    real = (images.astype(np.float32) + 128) / 255
    return {"image": real.reshape(-1, 1, 1, 8, 8)[:64]}


def test_the_script_is_as_short_as_promised_and_its_result_small() -> None:
    assert len((EXAMPLE / "train_export_quantize.py").read_text().splitlines()) <= 40
    assert MODEL.stat().st_size < 40_000


def test_its_layers_are_integers() -> None:
    graph = frontends.load(MODEL)
    made = [(node.op, graph.types[node.outputs[0]].dtype) for node in graph.nodes]
    floats = [op for op, dtype in made if dtype is DType.FLOAT32]
    assert floats == ["qnn.dequantize"]


@NEEDS_NINJA
@pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())
def test_the_firmware_computes_what_onnx_runtime_does(tmp_path: Path) -> None:
    microgen.generate(MODEL, "native", tmp_path / "p")
    result = microgen.run(tmp_path / "p", _images(), compare=True)
    assert [verdict.ok for verdict in result.verdicts] == [True, True]
    assert not any(verdict.is_skipped for verdict in result.verdicts)
    with np.load(DIGITS / "digits_labels.npz") as labels:
        right = result.outputs["linear"].reshape(64, 10).argmax(1) == labels[labels.files[0]][:64]
    assert right.mean() > 0.9
