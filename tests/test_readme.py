"""The figures of documents for newcomers that commands print without compiling anything. What
`make demo` prints is compared in tests/examples/test_demo.py."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from microgen.interface import cli
from microgen.interface.commands import COMMANDS
from scripts.bench import matrix

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LIMITS = (ROOT / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
LISTED = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def test_the_limits_name_the_cores_that_boards_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["boards", "--json"]) == 0
    cpus = {board["cpu"] for board in json.loads(capsys.readouterr().out)["boards"]}
    cortex = sorted(int(found[1]) for cpu in cpus if (found := re.match(r"cortex-m(\d+)", cpu)))
    others = ["RV32"] * any(cpu.startswith("rv32") for cpu in cpus) + ["native"] * ("host" in cpus)
    named = f"(Cortex-M{cortex[0]} to M{cortex[-1]}, {', '.join(others)})"
    assert f"`microgen boards` lists the boards {named}" in LIMITS


def test_the_readme_counts_the_networks_and_cores_of_the_benchmarks() -> None:
    found = matrix.load()
    kinds = Counter(network.kind for network in found.networks.values() if "/" not in network.file)
    listed = [f"{_NUMBERS[kinds[kind]]} {kind}" for kind in ("int8", "float32", "hybrid")]
    said = f"of {listed[0]}, {listed[1]} and {listed[2]} MLPerf Tiny networks"
    assert f"{said} on {_NUMBERS[len(found.cores)]} cores" in README


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 74


def test_the_page_about_commands_has_a_row_for_each() -> None:
    rows = re.findall(r"^\| (`.*?) \|", LISTED, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(COMMANDS)
