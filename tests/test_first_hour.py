"""Types the commands of docs/start/first-hour.md, and compares the answers with the page.

``pytest tests/test_first_hour.py --update-golden`` writes the answers into the page.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "start" / "first-hour.md"
TEXT = PAGE.read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_NEXT = "--- the next command ---"
# Commands that the page shows with "$ ", each with its answer.
COMMANDS = re.findall(r"^\$ (.*)$", "".join(_BLOCK.findall(TEXT)), re.MULTILINE)


def _without_progress(answer: str) -> str:
    """Terminals remove lines such as "building fw ..."."""
    lines = [line for line in answer.splitlines() if not line.endswith(" ...")]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _compiler() -> str:
    asked = ["arm-none-eabi-gcc", "-dumpfullversion"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def _checkout(folder: Path) -> Path:
    """A folder that looks like a checkout after `make demo` to the page's commands."""
    (folder / "examples").symlink_to(ROOT / "examples")
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").write_text(f'PATH="{programs}:$PATH"\n')
    # The package of this checkout, whichever is installed.
    for name, start in (("python", ""), ("microgen", "-m microgen ")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n')
        (programs / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The text that each command of the page prints, errors included."""
    folder = _checkout(tmp_path_factory.mktemp("hour"))
    script = "exec 2>&1\n" + f"echo '{_NEXT}'\n".join(f"{command}\n" for command in COMMANDS)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    printed = ran.stdout.replace(str(folder), "/home/you/microgen")
    return [_without_progress(answer) for answer in printed.split(f"{_NEXT}\n")]


@NEEDS_NINJA
@NEEDS_ARM
def test_the_first_hour_shows_what_its_commands_print(
    answers: list[str], request: pytest.FixtureRequest
) -> None:
    (stated,) = re.findall(r"The figures are of GCC ([\d.]+)\.", TEXT)
    if _compiler() != stated:
        pytest.skip(f"the figures in the page are of GCC {stated}, this is {_compiler()}")
    assert len(answers) == len(COMMANDS) > 12
    left = iter(zip(COMMANDS, answers, strict=True))

    def block(found: re.Match[str]) -> str:
        typed = sum(line.startswith("$ ") for line in found[1].splitlines())
        shown = [f"$ {command}\n{answer}" for command, answer in itertools.islice(left, typed)]
        return f"```\n{''.join(shown)}```"

    page = _BLOCK.sub(block, TEXT)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page, encoding="utf-8")
    assert page == PAGE.read_text(encoding="utf-8"), "run this file with --update-golden"
