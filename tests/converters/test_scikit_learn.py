"""Models that skl2onnx wrote, in numpy and as firmware, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import microgen
from microgen import frontends
from microgen.frontends.onnx.oracle.ort import OnnxRuntime
from microgen.graph.ir.graph import Array
from tests.converters.scikit_learn import FOLDER
from tests.frontends.onnx.one_node import by_graph, by_runtime

pytestmark = pytest.mark.skipif(bool(OnnxRuntime().lacking()), reason=OnnxRuntime().lacking())
MODELS = sorted(path.stem for path in FOLDER.glob("*.onnx"))
# One of each kind of operator; the others are computed in numpy.
BUILT = (
    *("DecisionTreeRegressor", "ExtraTreesClassifier_texts", "GradientBoostingClassifier_two"),
    *("KNeighborsClassifier", "LogisticRegression_scaled", "RandomForestClassifier_scaled"),
    *("SVC_texts", "SVR"),
)


def _samples() -> Array:
    rng = np.random.default_rng(5)
    low, high = np.array([4.3, 2, 1, 0.1]), np.array([7.9, 4.4, 6.9, 2.5])
    return rng.uniform(low, high, (25, 1, 4)).astype(np.float32)


def test_all_models_are_there() -> None:
    assert len(MODELS) == 17 * 2 + 11 * 2
    assert all(path.stat().st_size < 20_000 for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", MODELS)
def test_results_are_onnx_runtimes(name: str) -> None:
    path = FOLDER / f"{name}.onnx"
    graph, proto = frontends.load(path), onnx.load(path)
    for x in _samples():
        given = {"X": x}
        pairs = zip(graph.outputs, by_graph(graph, given), by_runtime(proto, given), strict=True)
        for output, found, expected in pairs:
            _expect_equal(found, _array(expected, graph.labels.get(output, ())))


def _array(value: Any, labels: tuple[str, ...]) -> Array:
    """A result of ONNX Runtime as microgen has it: maps as rows, texts as indices."""
    if isinstance(value, list):
        return np.array([list(row.values()) for row in value], np.float32)
    if value.dtype.kind == "O":
        return np.array([labels.index(each) for each in value], np.int64)
    return np.asarray(value)


def _expect_equal(found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype
    if found.dtype.kind == "i":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", BUILT)
def test_firmware_is_equal(name: str, tmp_path: Path) -> None:
    microgen.generate(FOLDER / f"{name}.onnx", "native", tmp_path / "p")
    done = microgen.run(tmp_path / "p", {"X": _samples()}, compare=True)
    assert [(verdict.name, verdict.ok) for verdict in done.verdicts] == [
        ("numpy reference (onnx)", True),
        ("ONNX Runtime ORT_DISABLE_ALL", True),
    ]


def test_the_header_has_the_texts_of_labels(tmp_path: Path) -> None:
    microgen.generate(FOLDER / "SVC_texts.onnx", "mps2_an386", tmp_path / "p")
    (header,) = (tmp_path / "p").rglob("tvmgen_default.h")
    text = header.read_text()
    assert "tvmgen_default_label_output0(int64_t element)" in text
    assert '"setosa",\n        "versicolor",\n        "virginica"\n' in text
