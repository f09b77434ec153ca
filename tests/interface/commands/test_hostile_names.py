"""Names that a terminal would obey: no command prints any part of them raw."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen.interface import api
from tests.interface.commands.conftest import Ran, Run
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

# ESC sequences, C1's CSI, bidi controls, newlines and rich's markup.
HOSTILE = "\x1b]0;owned\x07\x9b31m\u202e\u2066\u200f\u2028\x00\r\n[red]not[/] {0}%s"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose names are all hostile, and all different."""
    names = [f"{k}{HOSTILE}" for k in range(5)]
    weights = np.ones((3, 4), np.float32)
    tensors = [
        TensorSpec(names[0], (1, 4), "float32"),
        TensorSpec(names[1], (3, 4), "float32", data=weights),
        TensorSpec(names[2], (1, 3), "float32"),
        TensorSpec(names[3], (1, 3), "float32"),
        TensorSpec(names[4], (1, 3), "float32"),
    ]
    operators = [
        OperatorSpec("FULLY_CONNECTED", [0, 1, -1], [2], "FullyConnectedOptions"),
        OperatorSpec("LOGISTIC", [2], [3]),
        OperatorSpec("SOFTMAX", [3], [4], "SoftmaxOptions", {"beta": 1.0}),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(build_model(tensors, operators, [0], [4], description=HOSTILE))
    return path


def _check(ran: Ran, code: int | None = 0, *, is_log: bool = False) -> str:
    """Checks that no hostile character is printed raw.

    No name may begin a line of its own, except in the lines of a log. If ``code`` is None, the
    command may also refuse the model.
    """
    assert code is None or ran.code == code, ran.err
    for text in (ran.out, ran.err):
        assert text.replace("\n", "").isprintable()
        assert is_log or "\n[red]" not in text
    return ran.out


@pytest.mark.parametrize("columns", [0, 80])
def test_a_model(run: Run, model: Path, tmp_path: Path, columns: int) -> None:
    assert "[red]" in _check(run(["inspect", model], columns))
    _check(run(["plan", model], columns))
    _check(run(["partition", model], columns))
    _check(run(["partition", model, "--codegen", "dnnl"], columns))
    made = tmp_path / "p"
    _check(run(["generate", model, "-b", "mps2_an386", "-o", made], columns))
    _check(run(["inspect", made, "-v"], columns))
    _check(run(["inspect", made / "model"], columns))
    _check(run(["plan", made], columns))
    _check(run(["export", made, "-o", tmp_path / f"{columns}.tar"], columns))


def test_a_refusal_that_names_a_layer(run: Run, model: Path, tmp_path: Path) -> None:
    ran = run(["generate", model, "-b", "microbit", "--ram", "1", "-o", tmp_path / "p", "-q"])
    _check(ran, code=2)
    assert ran.err.count("\n") == 1


def test_json_has_them_raw_in_ascii(run: Run, model: Path) -> None:
    ran = run(["inspect", model, "--json"])
    assert ran.out.isascii()
    assert json.loads(ran.out)["layers"][-1]["layer"] == f"4{HOSTILE}"


def test_arguments(run: Run, tmp_path: Path) -> None:
    hostile = HOSTILE.replace("\x00", "")  # an argument cannot contain it
    for command in (
        ["inspect", f"/absent{hostile}"],
        ["run", hostile],
        ["plan", "x", "--bogus" + hostile],
        ["generate", "m", "-b", hostile, "-o", tmp_path / "p"],
        ["verify", "x", "--ram", hostile],
        [hostile],
    ):
        _check(run(list(command)), code=2)


def _edited(value: Any, key: str = "") -> Any:
    """The same JSON, in which every text is hostile that no command needs unchanged."""
    if isinstance(value, dict):
        return {k: _edited(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_edited(item, key) for item in value]
    needless = ("layer", "op", "kernel", "reason", "refusals", "proof", "algorithm", "file")
    return f"{value}{HOSTILE}" if isinstance(value, str) and key in needless else value


@NEEDS_NINJA
@NEEDS_ARM
def test_an_edited_manifest(run: Run, project: Path, tmp_path: Path) -> None:
    made = shutil.copytree(project, tmp_path / "p")
    manifest = made / "microgen.json"
    manifest.write_text(json.dumps(_edited(json.loads(manifest.read_text()))))
    for columns in (0, 80):
        _check(run(["inspect", made], columns), code=None)
        _check(run(["inspect", made, "-v"], columns), code=None)
        _check(run(["plan", made], columns), code=None)
        _check(run(["verify", made, "-v"], columns), code=None)
        _check(run(["run", made, "--profile"], columns), code=None)
    data = json.loads(manifest.read_text())
    data["calls"][0]["function"] += HOSTILE
    data["plan"]["buffers"][0]["name"] += HOSTILE
    data["inputs"][0]["tensor"] += HOSTILE
    manifest.write_text(json.dumps(data))
    _check(run(["verify", made, "--junit", tmp_path / "j.xml"], columns=80), code=None)
    _check(run(["run", made]), code=None)
    _check(run(["plan", made]), code=None)


@NEEDS_NINJA
@NEEDS_ARM
def test_what_the_firmware_prints(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from microgen.running.runner.process import Process

    real = Process.text

    def text(self: Process, name: str) -> str:
        return real(self, name) + f"{HOSTILE}\tand\x1b[2J\n"

    monkeypatch.setattr(Process, "text", text)
    shown = _check(run(["run", project]), is_log=True)
    assert "?]0;owned??31m???" in shown


def test_a_folder_of_that_name(run: Run, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE.replace("\x00", "").replace("/", "")
    folder.mkdir()
    path = shutil.copy(model, folder / "m.tflite")
    _check(run(["inspect", path]))
    _check(run(["plan", folder]), code=2)
    _check(run(["build", folder]), code=2)
    _check(run(["codegens", "--codegen-path", folder]), code=2)


def test_a_build_log(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "build", lambda *_, **__: _Built(project))
    _check(run(["build", project, "-v"]), is_log=True)


class _Built:
    def __init__(self, project: Path) -> None:
        self.elf, self.map, self.log = project / f"e{HOSTILE}", project / "m", f"gcc {HOSTILE}\nok"
