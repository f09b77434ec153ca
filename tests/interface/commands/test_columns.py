"""What every command prints at 80 columns: no line is wider, no word is cut."""

from __future__ import annotations

import functools
import json
import re
import sys
from pathlib import Path

import pytest

import microgen
from microgen.base import manifest
from microgen.base.output import progress
from microgen.base.output.console import Console
from microgen.building import tools
from microgen.interface.cli import main
from microgen.interface.commands import COMMANDS
from microgen.verifier import CHECKS
from tests.interface.commands.conftest import BUDGETS, NOT_APPLICABLE, SEED, Run, Terminal
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

MODELS = ("str_ww_ref_model", "kws_ref_model", "ad01_int8", "vww_96_int8", "pretrainedResnet_quant")


def _check(run: Run, command: list[str | Path]) -> str:
    """Compares what a terminal of 80 columns shows with what a pipe gets."""
    piped, shown = run(command), run(command, columns=80)
    assert shown.code == piped.code
    for at_terminal, in_pipe in ((shown.out, piped.out), (shown.err, piped.err)):
        whole = set(in_pipe.split())
        for line in at_terminal.splitlines():
            words = line.split()
            # A path that is wider is on a line of its own, so that it can be copied.
            assert len(line) <= 80 or (len(words) == 1 and "/" in line), line
            cut = [word for word in words if not _is_whole(word, whole)]
            assert not cut, f"{cut} in: {line}"
    return shown.out


def _is_whole(word: str, whole: set[str]) -> bool:
    """Whether a pipe gets the same word. It may be a heading with a colon, or lack its middle."""
    if word in whole or word.rstrip(":") in whole:
        return True
    first, dots, last = word.partition("...")
    return bool(dots) and any(other.startswith(first) and other.endswith(last) for other in whole)


@pytest.mark.parametrize("command", COMMANDS)
def test_help(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for columns in ("80", "10000"):
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            main([command, "--help"])
        shown.append(capsys.readouterr().out)
    assert all(len(line) <= 80 for line in shown[0].splitlines())
    assert shown[0].split() == shown[1].split()


@pytest.mark.parametrize("command", ["boards", "ops", "codegens", "doctor"])
def test_listings(run: Run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "states", functools.cache(tools.states))  # asks many programs
    _check(run, [command])


@pytest.mark.parametrize("command", ["plan", "inspect", "partition"])
@pytest.mark.parametrize("model", [SMALL, SEED], ids=lambda path: path.stem)
def test_shipped_models(run: Run, command: str, model: Path) -> None:
    _check(run, [command, model])


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_mlperf_models(run: Run, mlperf_models: Path, tmp_path: Path, model: str) -> None:
    path = mlperf_models / f"{model}.tflite"
    for command in ("plan", "inspect", "partition"):
        _check(run, [command, path])
    made = tmp_path / "p"
    assert run(["generate", path, "-b", "mps3_an547", "-o", made]).code == 0
    _check(run, ["generate", path, "-b", "mps3_an547", "-o", made])
    _check(run, ["inspect", made])
    _check(run, ["inspect", made, "-v"])
    _check(run, ["inspect", made / "model"])
    _check(run, ["plan", made])


@NEEDS_NINJA
@NEEDS_ARM
def test_a_project(run: Run, project: Path, tmp_path: Path) -> None:
    elf = project / "build" / "firmware.elf"
    for command in (
        ["build", project],
        ["verify", project],
        ["verify", project, "-v"],
        ["verify", project, "--flash", "3K", "--ram", "1K"],
        ["run", project, "--profile", "--compare"],
        ["inspect", project, "-v"],
        ["inspect", elf],
        ["plan", project],
        ["export", project, "-o", tmp_path / "m.tar"],
        ["inspect", project / "model"],
    ):
        _check(run, list(command))


def _ram(run: Run, command: list[str | Path]) -> dict[str, int]:
    """The numbers of bytes that a command writes with --json."""
    found: dict[str, int] = json.loads(run([*command, "--json"]).out)["ram"]
    return found


def test_plan_is_tables_and_names_what_it_counts(run: Run) -> None:
    shown, used = _check(run, ["plan", SMALL]), _ram(run, ["plan", SMALL])
    assert re.search(r"^buffer +offset +bytes +calls$", shown, re.M)
    assert re.search(r"^call +live bytes +of the most +computes$", shown, re.M)
    assert f"\narena + I/O: {used['arena_io']:,} bytes (workspace " in shown
    assert "\nRAM total: about " in shown


def test_inspect_hides_reasons_unless_asked(run: Run, tmp_path: Path) -> None:
    assert run(["generate", SMALL, "-b", "mps2_an386", "-o", tmp_path / "p"]).code == 0
    assert "has no mve" not in run(["inspect", tmp_path / "p"]).out
    assert "has no mve" in run(["inspect", tmp_path / "p", "-v"]).out


@NEEDS_NINJA
@NEEDS_ARM
def test_verify_prints_one_line_unless_a_check_fails(run: Run, project: Path) -> None:
    (line,) = run(["verify", project]).out.splitlines()
    used = _ram(run, ["plan", project])["arena_io"]
    absent = len(NOT_APPLICABLE | BUDGETS)
    counts = f"{len(CHECKS) - absent} ok, 0 failed, {absent} n/a"
    assert line.startswith(f"{counts}; arena + I/O {used:,} bytes, RAM total ")
    failed = run(["verify", project, "--flash", "3K"])
    assert failed.code == 1
    head, expected, found, summary = failed.out.splitlines()
    assert (head, expected) == ("flash_budget failed", "    expected: at most 3072 bytes")
    assert found.startswith("    found: ")
    assert "1 failed" in summary
    assert len(run(["verify", project, "-v"]).out.splitlines()) > 28


@NEEDS_NINJA
@NEEDS_ARM
def test_verdicts_are_never_wrapped_in_a_pipe(run: Run, project: Path) -> None:
    lines = run(["run", project, "--compare"]).out.splitlines()
    (verdict,) = [line for line in lines if line.startswith("numpy reference")]
    assert verdict.endswith("layers equal")


@NEEDS_NINJA
@NEEDS_ARM
def test_generate_plan_verify_and_json_agree(run: Run, project: Path, tmp_path: Path) -> None:
    commands = (
        ["generate", SMALL, "-b", "mps2_an386", "-o", tmp_path / "p"],
        ["plan", SMALL, "-b", "mps2_an386"],
        ["plan", project],
        ["inspect", project],
        ["verify", project, "-v"],
    )
    used = _ram(run, ["plan", SMALL, "-b", "mps2_an386"])
    workspace, both = f"{used['workspace']:,}", f"{used['arena_io']:,}"
    for command in commands:
        shown = run(list(command)).out
        assert f"arena + I/O: {both} bytes (workspace {workspace}, inputs and outputs 74)" in shown
        assert re.search(
            rf"RAM total: (about )?\d,\d\d\d bytes "
            rf"\(arena \+ I/O {both}, static data \d+, stack [\d,]+\)",
            shown,
        )


@NEEDS_NINJA
@NEEDS_ARM
def test_long_work_counts(project: Path) -> None:
    heard: dict[str, tuple[int, int]] = {}
    with progress.shown(lambda what, done, total: heard.update({what: (done, total)})):
        result = microgen.run(project, compare=True)
    layers = len(manifest.load(project).calls)
    numbers = {"checks": len(CHECKS), "samples": 1, "layers": layers, "layers by LiteRT": 1}
    numbers |= {f"samples by {whom}": result.samples for whom in ("numpy", "LiteRT")}
    assert heard == {what: (total, total) for what, total in numbers.items()}


def test_counts_stand_beside_the_spinner(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    with Console().step("running [x]\x1b[2J"):
        progress.count("layers", 3, 12)
    assert "running [x]?[2J ... 3 of 12 layers" in terminal.getvalue()
