"""Every way of ``tampers.py`` is noticed by its check, and sound firmware by none."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from microgen.target import board as boards
from microgen.verifier import CHECKS
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper import code, headers, symbols
from tests.tamper.elf32 import Elf32
from tests.tamper.firmware import BOARDS, failed, firmware, rebuilt, two_models
from tests.tamper.symbols import STILL_FOUND_AFTER_STRIP
from tests.tamper.tampers import UNREADABLE, Tamper

pytestmark = needs("cmake", "ninja")

TAMPERS = (*headers.TABLE.tampers, *symbols.TABLE.tampers, *code.TABLE.tampers)
_SAMPLE = 12  # every so many-th tampered file goes through all checks


def _tampered(board: str, tamper: Tamper, folder: Path) -> Path:
    elf = Elf32((firmware(board) / "build" / "firmware.elf").read_bytes())
    before = bytes(elf.data)
    tamper.apply(elf)
    assert elf.data != before
    path = folder / "tampered.elf"
    path.write_bytes(elf.data)
    return path


def _on_boards(tampers: Sequence[Tamper], names: Sequence[str]) -> list[ParameterSet]:
    return [
        pytest.param(*board.values, tamper, marks=board.marks, id=f"{tamper.name}-{name}")
        for tamper in tampers
        for name in tamper.boards(names)
        for board in board_params(name)
    ]


def _on_some(tampers: Sequence[Tamper], names: Sequence[str]) -> list[ParameterSet]:
    """Each tamper on every other of its boards, in turn from the first or the second one, and on
    the others in the slow run."""
    found = []
    for number, tamper in enumerate(tampers):
        cases = _on_boards([tamper], names)
        first = min(number % 2, len(cases) - 1)
        for i, case in enumerate(cases):
            slow = [pytest.mark.slow] * (i % 2 != first)
            found.append(pytest.param(*case.values, marks=[*case.marks, *slow], id=case.id))
    return found


@pytest.mark.parametrize(("board", "tamper"), _on_some(TAMPERS, BOARDS))
def test_it_is_caught_by_its_check(board: str, tamper: Tamper, tmp_path: Path) -> None:
    path = _tampered(board, tamper, tmp_path)
    assert set(failed(firmware(board), path, *tamper.checks)) & set(tamper.checks)


@pytest.mark.parametrize(("board", "tamper"), _on_boards(TAMPERS[::_SAMPLE], BOARDS[:1]))
def test_all_checks_together_catch_it(board: str, tamper: Tamper, tmp_path: Path) -> None:
    path = _tampered(board, tamper, tmp_path)
    assert set(failed(firmware(board), path)) & set(tamper.checks)


def test_the_table_is_a_table() -> None:
    assert len({tamper.name for tamper in TAMPERS}) == len(TAMPERS) >= 120
    assert {c for tamper in TAMPERS for c in tamper.checks} < {*CHECKS, UNREADABLE}


@pytest.mark.parametrize("board", board_params(*BOARDS))
def test_a_sound_firmware_passes(board: str) -> None:
    project = firmware(board)
    assert failed(project, project / "build" / "firmware.elf") == []


@pytest.mark.parametrize("strip", ["", "llvm-"])
@pytest.mark.parametrize("board", board_params(*BOARDS))
def test_a_stripped_firmware_passes(board: str, strip: str, tmp_path: Path) -> None:
    _check_stripped(firmware(board), strip or boards.load(board).toolchain, tmp_path)


def _stripped(elf: Path, board: str, folder: Path) -> Elf32:
    path = folder / "stripped.elf"
    command = [f"{boards.load(board).toolchain}strip", "-g", str(elf), "-o", str(path)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return Elf32(path.read_bytes())


@pytest.mark.parametrize("name", STILL_FOUND_AFTER_STRIP)
@pytest.mark.parametrize("board", board_params(BOARDS[0]))
def test_buffers_of_a_stripped_firmware_are_checked(board: str, name: str, tmp_path: Path) -> None:
    project = firmware(board)
    elf = _stripped(project / "build" / "firmware.elf", board, tmp_path)
    next(tamper for tamper in TAMPERS if tamper.name == name).apply(elf)
    path = tmp_path / "tampered.elf"
    path.write_bytes(elf.data)
    assert failed(project, path, "sids") == ["sids"]


@pytest.mark.parametrize("board", board_params(BOARDS[0]))
def test_each_model_has_its_own_buffers(board: str, tmp_path: Path) -> None:
    """Also after strip, which leaves buffers of one name without the files that tell them apart."""
    project = two_models(board)
    sound = project / "build" / "firmware.elf"
    stripped = _stripped(sound, board, tmp_path)
    path = tmp_path / "tampered.elf"
    for elf in (Elf32(sound.read_bytes()), stripped):
        path.write_bytes(elf.data)
        assert failed(project, path) == []
        elf.symbol(elf.names("sid_")[0])["st_value"] += 16
        path.write_bytes(elf.data)
        assert failed(project, path, "sids") == ["sids"]
        elf.symbol(elf.names("sid_")[0])["st_value"] -= 16
        elf.add_symbol("sid_99", elf.names("sid_")[0])
        path.write_bytes(elf.data)
        assert failed(project, path, "sids") == ["sids"]


@pytest.mark.sampled(1)
@needs("clang", "ld.lld")
@pytest.mark.parametrize("board", board_params(*BOARDS))
def test_a_firmware_of_clang_passes_and_so_it_does_stripped(board: str, tmp_path: Path) -> None:
    project = firmware(board, "llvm")
    assert failed(project, project / "build" / "firmware.elf") == []
    _check_stripped(project, boards.load(board).toolchain, tmp_path)


def _check_stripped(project: Path, prefix: str, folder: Path) -> None:
    path = folder / "stripped.elf"
    command = [f"{prefix}strip", "-g", str(project / "build" / "firmware.elf"), "-o", str(path)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    assert "main.c" not in {name for name, _ in Elf32(path.read_bytes()).symbols()}
    assert failed(project, path) == []


# In every run of the tests, each level is on one of the boards.
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "level"),
    [
        pytest.param(
            *(*board.values, level),
            marks=[*board.marks, *[pytest.mark.slow] * ((i + k) % 2)],
        )
        for i, board in enumerate(board_params(BOARDS[0], BOARDS[2]))
        for k, level in enumerate(("-O1", "-O3", "-Os"))
    ],
)
def test_a_firmware_built_otherwise_passes(board: str, level: str, tmp_path: Path) -> None:
    project = firmware(board)
    assert failed(project, rebuilt(project, tmp_path, level)) == []
