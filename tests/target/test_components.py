"""Boards whose firmware a framework makes, of which the model is a component."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import microgen
from microgen.base.errors import BoardError
from microgen.building import builder, toolchain
from microgen.interface.cli import main
from microgen.target import board as boards
from tests.support.places import SMALL
from tests.support.tools import NEEDS_NINJA, NEEDS_RISCV_GCC

BOARD = "esp32c3"


def test_only_generate_and_plan_work_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = str(tmp_path / "p")
    assert main(["plan", str(SMALL), "-b", BOARD]) == 0
    assert main(["generate", str(SMALL), "-b", BOARD, "-o", project]) == 0
    assert f"next: microgen export {project} --as esp-idf -o OUT\n" in capsys.readouterr().out
    for command in ("build", "verify", "run"):
        assert main([command, project]) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "esp-idf makes the firmware of esp32c3, and the model is a component of it; " in said
        assert "microgen export DIR --as esp-idf -o OUT, build it there, and" in said
    assert not (tmp_path / "p" / "build").exists()
    readme = (tmp_path / "p" / "README.md").read_text()
    assert "microgen export . --as esp-idf -o OUT" in readme
    assert json.loads((tmp_path / "p" / "microgen.json").read_text())["board"]["component"]


def test_what_fits_is_judged_by_its_memories(tmp_path: Path) -> None:
    """Constants are in the flash's window for data, and everything else is not."""
    board = boards.load(BOARD)
    assert (board.constants, board.memory("ram").length) == ("flash_data", 384 << 10)
    files = microgen.compile_model(SMALL, BOARD).files.files
    script = files[f"boards/{BOARD}.ld"].decode()
    assert "} > flash_data :weights" in script
    assert "boards/boot.S" not in files


@NEEDS_NINJA
@NEEDS_RISCV_GCC
def test_its_code_is_linked_at_its_addresses_and_verified(tmp_path: Path) -> None:
    """Another build system makes firmware of it, here with CMake alone, which the chip would not
    start."""
    project, made = tmp_path / "p", tmp_path / "made"
    microgen.generate(SMALL, BOARD, project)
    for command in (["cmake", "-S", project, "-B", made, "-G", "Ninja"], ["ninja", "-C", made]):
        assert toolchain.run(command, seconds=200).ok
    elf = made / "firmware.elf"
    report = microgen.verify(project, elf=elf, scope="model")
    assert report.ok, report.failed
    whole = microgen.verify(project, elf=elf)
    assert whole.ok, whole.failed
    assert {m["name"] for m in whole.check("sections_fit").values["memories"]} == {
        *("flash", "flash_data", "ram"),
    }
    with pytest.raises(BoardError, match="esp-idf makes the firmware"):
        builder.check_is_built_here(boards.load(BOARD))
