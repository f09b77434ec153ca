"""The shipped result of examples/pytorch: it reads digits, in integers, as ONNX Runtime does."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest

import microgen
from microgen import frontends
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import DType
from tests.support.tools import NEEDS_NINJA

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


def test_the_script_writes_into_its_build_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With stand-ins for the packages that it needs, which write what they are told to write."""

    def write(_given: object, path: Path) -> None:
        path.write_bytes(b"new")

    torch, quantization, data = MagicMock(), MagicMock(CalibrationDataReader=object), MagicMock()
    torch.onnx.export.side_effect = lambda _network, _example, path, **_: write(None, path)
    quantization.quant_pre_process.side_effect = write
    quantization.quantize_static.side_effect = lambda given, path, _reader, **_: write(given, path)
    scores = torch.nn.Sequential.return_value.eval.return_value = torch.nn.Sequential.return_value
    scores.return_value.argmax.return_value.__eq__.return_value.float().mean.return_value = 0.9
    packages = {"torch": torch, "sklearn": MagicMock(), "sklearn.datasets": data}
    packages |= {"onnxruntime": MagicMock(quantization=quantization)}
    for name, package in packages.items():
        monkeypatch.setitem(sys.modules, name, package)
    for name in ("train_export_quantize.py", MODEL.name):
        shutil.copy(EXAMPLE / name, tmp_path)
    runpy.run_path(str(tmp_path / "train_export_quantize.py"))
    assert (tmp_path / MODEL.name).read_bytes() == MODEL.read_bytes()
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == {"build"}
    assert (tmp_path / "build" / MODEL.name).read_bytes() == b"new"


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
