"""``microgen run --on``: what is wrong before anything is built, and what is told afterwards."""

from __future__ import annotations

from pathlib import Path

import microgen
from tests.interface.commands.conftest import Run
from tests.support.places import SMALL


def test_what_is_wrong_is_said_before_the_build(run: Run, tmp_path: Path) -> None:
    microgen.generate(SMALL, "mps2_an386", tmp_path / "d")
    microgen.generate(SMALL, "native", tmp_path / "n")
    for project, options, said in (
        ("d", ["--on", "board:1"], "--on: 'board:1' names no debugger's server; expected gdb:"),
        ("n", ["--on", "gdb:h:1"], "--on: the project is for native, whose firmware is a program"),
        ("d", ["--on", "gdb:1", "--timeout", "nan"], "--timeout: is nan, expected more than 0 sec"),
        ("d", ["--timeout", "-1"], "--timeout: is -1.0, expected more than 0 seconds"),
        ("n", ["--timeout", "0"], "--timeout: is 0.0, expected more than 0 seconds"),
    ):
        ran = run(["run", tmp_path / project, *options])
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.splitlines()[-1].startswith(f"microgen: {said}")
        assert not (tmp_path / project / "build").exists()


def test_a_project_without_an_emulator_names_the_option(run: Run, tmp_path: Path) -> None:
    microgen.generate(SMALL, "nrf52840dk", tmp_path / "d")
    ran = run(["run", tmp_path / "d"])
    assert (ran.code, "run it on the board itself with --on gdb:HOST:PORT" in ran.err) == (1, True)


def test_a_directory_that_is_no_project(run: Run, tmp_path: Path) -> None:
    ran = run(["run", tmp_path, "--on", "gdb:h:1"])
    assert ran.code == 2
    assert "generate" in ran.err
