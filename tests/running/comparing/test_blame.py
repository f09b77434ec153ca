"""The explanation of a status that a model returns: layer, element, value, range, what to do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import StatusRunError
from microgen.building import builder
from microgen.graph.ir.graph import Array
from microgen.interface.cli import main
from microgen.running import runner
from microgen.running.comparing import blame
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_GDBSERVER, NEEDS_NINJA

pytestmark = NEEDS_NINJA


def _pick() -> bytes:
    tensors = [
        TensorSpec("data", (8, 2), "float32"),
        TensorSpec("index", (3,), "int32"),
        TensorSpec("two", (1,), "int32", np.array([2], np.int32)),
        TensorSpec("twice", (3,), "int32"),
        TensorSpec("row", (3, 2), "float32"),
        TensorSpec("rows", (3, 2), "float32"),
    ]
    operators = [
        OperatorSpec("GATHER", ["data", "index"], ["row"], "GatherOptions"),
        OperatorSpec("MUL", ["index", "two"], ["twice"], "MulOptions"),
        OperatorSpec("GATHER", ["data", "twice"], ["rows"], "GatherOptions"),
    ]
    return build_model(tensors, operators, ["data", "index"], ["row", "rows"])


def _quotient() -> bytes:
    tensors = [TensorSpec(name, (4,), "int32") for name in ("a", "b", "q")]
    div = OperatorSpec("DIV", ["a", "b"], ["q"], "DivOptions")
    return build_model(tensors, [div], ["a", "b"], ["q"])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blame")
    (folder / "pick.tflite").write_bytes(_pick())
    (folder / "quotient.tflite").write_bytes(_quotient())
    pairs = [(str(folder / f"{name}.tflite"), name) for name in ("pick", "quotient")]
    microgen.generate_models(pairs, "native", folder / "p")
    microgen.build(folder / "p")
    return folder / "p"


def _inputs(index: list[list[int]], divisors: list[list[int]]) -> dict[str, Array]:
    return {
        "data": np.zeros((len(index), 8, 2), np.float32),
        "index": np.array(index, np.int32),
        "a": np.ones((len(index), 4), np.int32),
        "b": np.array(divisors, np.int32),
    }


ONES = [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (
            _inputs([[0, 1, 2], [1, 8, -1]], [ONES, ONES]),
            "'pick' returned error code 2051 at sample 1 in layer \"row\": index[1] is 8, "
            "expected from 0 to 7 (status 0x803); give --input samples with 'index' from 0 to 7",
        ),
        (
            _inputs([[0, 1, 7]], [ONES]),
            'at sample 0 in layer "rows": twice[2] is 14, expected from 0 to 7 (status 0x803); '
            "limit 'twice' to that in the model, or give other --input samples",
        ),
        (
            _inputs([[0, 1, 2]], [[1, 5, 0, 0]]),
            "the model 'quotient' returned error code 2051 at sample 0 in layer \"q\": b[2] is 0, "
            "expected other than 0 (status 0x803); give --input samples with 'b' other than 0",
        ),
    ],
)
def test_the_cause_is_named(project: Path, inputs: dict[str, Array], said: str) -> None:
    with pytest.raises(StatusRunError) as caught:
        microgen.run(project, inputs)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


def test_json_has_it_as_data(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "x.npz"
    np.savez(given, **_inputs([[0, -3, 2]], [ONES]))
    assert main(["run", str(project), "--input", str(given), "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)["facts"]
    expected = {"status": 2051, "sample": 0, "module": "pick", "layer": "row", "tensor": "index"}
    expected |= {"element": [1], "value": -3, "allowed": "from 0 to 7"}
    assert facts == expected


@NEEDS_GDBSERVER
def test_a_status_of_its_own_is_that_of_the_call_that_returned_it(project: Path) -> None:
    source = project / "model/codegen/host/src/pick_lib1.c"
    text = source.read_text()
    at = text.index("return", text.index("tvmgen_pick_fused_take("))
    source.write_text(f"{text[:at]}return -77;\n    {text[at:]}")
    inputs = _inputs([[0, 1, 2]], [ONES])
    try:
        elf = builder.build(project).elf
        with pytest.raises(StatusRunError) as caught:
            runner.run(project, inputs, elf=elf)
    finally:
        source.write_text(text)
    found = str(blame.explained(caught.value, project, inputs, elf))
    assert 'returned error code -77 at sample 0 in layer "row" (call ' in found
    assert "0xffffffb3 (-77), as operating systems and drivers report errors" in found


def test_zeros_are_written_where_no_samples_are_given(project: Path, tmp_path: Path) -> None:
    """Without samples the firmware runs on zeros. Here it then divides by zero."""
    assert main(["run", str(project), "--output", str(tmp_path / "y.npz")]) == 1
    assert not (tmp_path / "y.npz").exists()


def test_samples_without_results_are_left_out_of_a_comparison(tmp_path: Path) -> None:
    """A comparison's own samples have indices up to 7, whose doubles are not all among 8 rows."""
    (tmp_path / "pick.tflite").write_bytes(_pick())
    microgen.generate(tmp_path / "pick.tflite", "native", tmp_path / "p")
    found = microgen.run(tmp_path / "p", compare=True)
    assert (found.samples, found.left_out) == (4, 4)
    assert all(verdict.ok or verdict.is_skipped for verdict in found.verdicts)


def test_without_samples_left_a_status_is_an_error(project: Path) -> None:
    with pytest.raises(StatusRunError, match="give --input samples with 'b' other than 0"):
        microgen.run(project, compare=True)


def test_given_samples_are_not_left_out(project: Path) -> None:
    inputs = _inputs([[0, 1, 2], [9, 0, 0]], [[1, 1, 1, 1]] * 2)
    with pytest.raises(StatusRunError):
        microgen.run(project, inputs, compare=True)
