"""Whatever is wrong with an ELF file or a manifest, ``verify`` ends soon, without a traceback."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import time
from pathlib import Path

import pytest

from microgen import verifier
from microgen.base.errors import MicrogenError
from microgen.target.board import Board
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper.firmware import BOARDS, firmware
from tests.tamper.mutations import mutated_elf, mutated_manifest

pytestmark = needs("cmake", "ninja")

_LONGEST = 5.0  # seconds
_MANY = [pytest.param(120, id="120"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]
_WHOLE = 10  # for each so many-th file, the code is followed; for the others, only its start


@pytest.fixture
def project(board: str, tmp_path: Path) -> Path:
    """A copy of the built project."""
    return Path(shutil.copytree(firmware(board), tmp_path / "project"))


@pytest.fixture
def short_disassembly(monkeypatch: pytest.MonkeyPatch) -> None:
    """``objdump``, and to follow the code, take longer than all else."""
    real, calls = verifier.disassemble, itertools.count()

    def disassemble(path: Path, board: Board) -> str:
        return "" if next(calls) % _WHOLE else real(path, board)

    monkeypatch.setattr(verifier, "disassemble", disassemble)


def _check_ends(project: Path, seed: int) -> None:
    """Fails if there is a traceback, or no end in time."""
    start = time.process_time()
    with contextlib.suppress(MicrogenError):
        verifier.verify(project, project_files=False)
    taken = time.process_time() - start
    assert taken < _LONGEST, f"seed {seed}: {taken:.1f} s"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", board_params(BOARDS[0], BOARDS[2]))
@pytest.mark.parametrize("count", _MANY)
def test_mutated_elfs(count: int, project: Path, short_disassembly: None) -> None:
    path = project / "build" / "firmware.elf"
    sound = path.read_bytes()
    for seed in range(count // 2):
        path.write_bytes(mutated_elf(sound, seed))
        _check_ends(project, seed)


@pytest.mark.parametrize("board", board_params(BOARDS[0]))
@pytest.mark.parametrize("count", _MANY)
def test_mutated_manifests(count: int, project: Path, short_disassembly: None) -> None:
    path = project / "microgen.json"
    sound = json.loads(path.read_bytes())
    for seed in range(count):
        path.write_bytes(mutated_manifest(sound, seed))
        _check_ends(project, seed)
