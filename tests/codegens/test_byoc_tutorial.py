"""docs/byoc.md describes its first codegen rightly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microgen
from microgen import cli
from tests.tools import NEEDS_NINJA

PAGE = Path(__file__).resolve().parents[2] / "docs" / "byoc.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that a reader has after the first section."""
    page = PAGE.read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    model = re.search(r"```\n(#\[version.*?)```", page, re.DOTALL)
    assert code
    assert model
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "halver.py").write_text(code[1])
    (tmp_path / "sum.relay").write_text(model[1])
    return tmp_path


def test_it_is_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["codegens", "--codegen-path", str(folder / "mine")]) == 0
    listed = capsys.readouterr().out
    assert f"halver ({folder / 'mine'}): The sum of two tensors, by a library." in listed


def test_partition_says_who_takes_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--codegen", "halver", "--codegen-path", str(folder / "mine")]
    assert cli.main(["partition", str(folder / "sum.relay"), *chosen]) == 0
    found = capsys.readouterr()
    assert "@tvmgen_default_halver_main_0(%x, %y)" in found.out
    assert "sigmoid is not for halver: halver has no sigmoid" in found.err


@NEEDS_NINJA
@pytest.mark.parametrize("interface", ["c", "packed"])
def test_its_firmware_agrees(folder: Path, interface: str) -> None:
    project = folder / "demo"
    microgen.generate(
        folder / "sum.relay",
        "native",
        project,
        codegen=("halver",),
        codegen_path=str(folder / "mine"),
        interface=interface,
    )
    run = microgen.run(project, compare=True)
    assert run.verdicts
    assert all(verdict.ok for verdict in run.verdicts)
