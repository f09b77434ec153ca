"""``scripts.same_bytes`` finds one changed kernel, and nothing where two trees are equal."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts import same_bytes
from scripts.bench.matrix import ROOT
from tests.support.tools import NEEDS_ARM_GCC

pytestmark = NEEDS_ARM_GCC

# All int8 layers of the example round with it.
HEADER = Path("crt/include/microgen/requantization/requantize.h")
COMBINATION = ["--network", "digits", "--board", "mps2_an385", "--optimize", "ram"]

EQUAL = "1 firmware images, 0 differ; 0 refused by both trees\n"


def _other_tree(folder: Path) -> Path:
    for part in ("microgen", "crt", "boards", "templates"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", folder)
    return folder


def test_a_changed_kernel_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _other_tree(tmp_path / "other")
    assert same_bytes.main([str(other), *COMBINATION]) == 0
    assert capsys.readouterr().out == EQUAL
    header = other / HEADER
    header.write_text("/* A comment moves every line. */\n" + header.read_text())
    assert same_bytes.main([str(other), *COMBINATION]) == 0
    assert capsys.readouterr().out == EQUAL
    header.write_text(header.read_text().replace("(int64_t)1 << 30", "(int64_t)1 << 29"))
    assert same_bytes.main([str(other), *COMBINATION]) == 1
    assert "digits" in capsys.readouterr().out


def test_a_tree_that_cannot_generate_is_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = _other_tree(tmp_path / "other")
    (other / "microgen/pipeline/__init__.py").write_text("raise SystemExit('no pipeline')\n")
    assert same_bytes.main([str(other), *COMBINATION]) == 1
    assert "no pipeline" in capsys.readouterr().out


def test_combinations_without_an_image_are_not_called_equal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(same_bytes, "loaded", lambda *_: "it does not fit")
    assert same_bytes.main([str(ROOT), *COMBINATION]) == 1
    assert capsys.readouterr().out == "0 firmware images, 0 differ; 1 refused by both trees\n"
