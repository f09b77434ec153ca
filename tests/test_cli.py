"""The command line: exit codes, which output gets which text, and JSON that is nothing but JSON."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from microgen.building import tools
from microgen.interface.cli import main
from microgen.interface.commands import COMMANDS
from microgen.version import __version__
from tests.frontends.tweaked import chain
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

ROOT = Path(__file__).resolve().parent.parent
Capture = pytest.CaptureFixture[str]


def _json(capsys: Capture) -> object:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", ["boards", "ops", "codegens", "cmake", "doctor"])
def test_listings_print_a_table_or_json(
    command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "states", functools.cache(tools.states))  # asks many programs
    main([command])
    assert capsys.readouterr().out
    main([command, "--json"])
    assert _json(capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as done:
        main([command, "--help"])
    assert done.value.code == 0
    assert "--json" in capsys.readouterr().out


_IMPORTED = """
import contextlib, importlib, sys
from microgen.interface.cli import main

with contextlib.suppress(SystemExit):
    main(["--version"])
print({"numpy", "microgen.interface.api"} & sys.modules.keys())
for command in ("build", "run", "verify"):
    importlib.import_module(f"microgen.interface.commands.{command}")
print({"microgen.pipeline", "microgen.verifier.again.again"} & sys.modules.keys())
"""


def test_what_compiles_nothing_imports_no_compiler() -> None:
    command = [sys.executable, "-c", _IMPORTED]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == f"microgen {__version__}\nset()\nset()\n"


@pytest.mark.parametrize("command", ["inspect", "partition", "plan"])
def test_a_model_is_shown_as_text_and_as_json(command: str, capsys: Capture) -> None:
    assert main([command, str(SMALL)]) == 0
    assert "dense" in capsys.readouterr().out
    assert main([command, str(SMALL), "--json"]) == 0
    assert isinstance(_json(capsys), dict)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["generate", "absent.tflite", "-b", "native"], "absent.tflite: no such file"),
        (["generate", str(SMALL), "-b", "moon"], "there is no board 'moon'"),
        (["generate", str(SMALL), "-b", "native", "--executor", "vm"], "not available"),
        (["generate", str(SMALL), "-b", "native", "--pool", "a:x"], "'x' is not a size"),
        (["generate", str(SMALL), "-b", "native", "--pool", "a:1"], "increase the size_hints"),
        (["generate", str(SMALL), "-b", "native", "--name", "a b"], "cannot name a module"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], text: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main([*arguments, "-q", "-o", str(tmp_path / "p")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert text in captured.err
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("command", ["build", "verify", "run", "inspect"])
def test_a_folder_that_is_no_project_is_refused(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main([command, str(tmp_path), "-q"]) == 2
    assert "is not a generated project" in capsys.readouterr().err


def test_an_error_is_also_json_when_asked(tmp_path: Path, capsys: Capture) -> None:
    assert main(["build", str(tmp_path), "--json"]) == 2
    found = _json(capsys)
    assert isinstance(found, dict)
    assert found["ok"] is False
    assert "generate" in found["hint"]


def test_an_errors_details_are_for_those_who_ask(tmp_path: Path, capsys: Capture) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(chain("UNIQUE", "MULTINOMIAL").to_bytes())
    command = ["generate", str(model), "-b", "native", "-o", str(tmp_path / "p")]
    assert main(command) == main([*command, "-v"]) == 2
    said = capsys.readouterr().err
    assert said.count("microgen: m.tflite: has operators that are not supported: UNIQUE in") == 2
    assert said.count('\n  UNIQUE: "t0"\n  MULTINOMIAL: "t1"\n  supported: ABS, ADD') == 1
    assert main([*command, "--json"]) == 2
    found = _json(capsys)
    assert isinstance(found, dict)
    assert found["details"][:2] == ['UNIQUE: "t0"', 'MULTINOMIAL: "t1"']


@NEEDS_NINJA
@NEEDS_ARM
def test_the_whole_way_by_commands(tmp_path: Path, capsys: Capture) -> None:
    project, junit, given, got = (
        tmp_path / name for name in ("p", "checks.xml", "in.npz", "out.npz")
    )
    np.savez(given, image=np.zeros((3, 1, 8, 8, 1), np.int8))
    assert main(["generate", str(SMALL), "-b", "mps2_an386", "-o", str(project)]) == 0
    assert main(["build", str(project)]) == 0
    capsys.readouterr()
    assert main(["verify", str(project), "--json", "--junit", str(junit)]) == 0
    report = _json(capsys)
    assert isinstance(report, dict)
    assert report["ok"]
    assert {check["status"] for check in report["checks"]} == {"ok", "n/a"}
    assert junit.read_text().startswith("<?xml")
    run = ["run", str(project), "--input", str(given), "--output", str(got)]
    assert main([*run, "--profile", "--compare", "--json"]) == 0
    result = _json(capsys)
    assert isinstance(result, dict)
    assert result["samples"] == len(result["instructions"]) == 3
    assert len(set(result["instructions"])) == 1  # equal inputs take equal numbers of instructions
    with np.load(got) as outputs:
        assert outputs["probabilities"].shape == (3, 1, 10)
    assert main(["run", str(project), "--output", str(got)]) == 0  # the sample is zeros
    with np.load(got) as outputs:
        assert outputs["probabilities"].shape == (1, 10)
    assert main(["inspect", str(project)]) == 0
    assert "mg_dense_s8" in capsys.readouterr().out
    assert main(["inspect", str(project / "build" / "firmware.elf")]) == 0
    assert ".bss.noinit.tvm" in capsys.readouterr().out


@NEEDS_NINJA
@NEEDS_ARM
def test_a_budget_that_is_exceeded_fails_verify_which_builds_first(
    tmp_path: Path, capsys: Capture
) -> None:
    project = str(tmp_path / "p")
    assert main(["generate", str(SMALL), "-b", "mps2_an386", "-o", project]) == 0
    assert main(["verify", project, "--flash", "3000"]) == 1
    assert "flash_budget" in capsys.readouterr().out
