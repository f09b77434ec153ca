"""A model with an int32 output, from its file to its outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import microgen
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA


def _model() -> bytes:
    """A MEAN over height and width, which is the int8 output, and its ARG_MAX, the int32 output."""
    tensors = [
        TensorSpec("x", (1, 4, 5, 7), "int8", None, (0.5,), (3,)),
        TensorSpec("axes", (2,), "int32", np.array([1, 2])),
        TensorSpec("scores", (1, 7), "int8", None, (0.25,), (-5,)),
        TensorSpec("axis", (), "int32", np.array(1)),
        TensorSpec("class", (1,), "int32"),
    ]
    operators = [
        OperatorSpec("MEAN", ["x", "axes"], ["scores"], "ReducerOptions", {}, 2),
        OperatorSpec("ARG_MAX", ["scores", "axis"], ["class"], "ArgMaxOptions", {"outputType": 2}),
    ]
    return build_model(tensors, operators, ["x"], ["class", "scores"])


def _samples(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    rng = np.random.default_rng(5)
    return rng.integers(-128, 128, (count, 1, 4, 5, 7)).astype(np.int8)


@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize("board", ["native", pytest.param("mps2_an386", marks=NEEDS_ARM)])
def test_positions_equal_litert(board: str, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_model())
    project = tmp_path / "p"
    microgen.generate(tmp_path / "m.tflite", board, project)
    microgen.build(project)
    samples = _samples(20)
    result = microgen.run(project, {"x": samples}, compare=True)
    interpreter = interpreter_of(_model())
    by_name = {d["name"]: d["index"] for d in interpreter.get_output_details()}
    for i, sample in enumerate(samples):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        for name, index in by_name.items():
            np.testing.assert_array_equal(result.outputs[name][i], interpreter.get_tensor(index))
    assert result.outputs["class"].dtype == np.int32
    assert len(set(result.outputs["class"].ravel().tolist())) > 3
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert len(result.verdicts) == 2


@NEEDS_NINJA
def test_the_console_shows_each_outputs_elements(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(_model())
    project = tmp_path / "p"
    microgen.generate(tmp_path / "m.tflite", "native", project)
    zeros = microgen.run(project, {"x": np.zeros((1, 4, 5, 7), np.int8)}).outputs
    expected = [
        " ".join(map(str, (f"microgen: output {name} =", *array.ravel())))
        for name, array in zip(("output0", "output1"), zeros.values(), strict=True)
    ]
    assert microgen.run(project).console.splitlines()[:-1] == expected
