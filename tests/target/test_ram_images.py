"""Code in RAM: a memory for code that is writable, which a debugger or a boot ROM loads."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen import verifier
from microgen.base import manifest
from microgen.base.errors import BoardError
from microgen.target import found, projects
from microgen.verifier.elf import elf as elf_reader
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

# QEMU's MPS2 has RAM at 0, where the core starts.
BOARD = """\
title: Code in RAM
cpu: cortex-m4f
memories:
  - {name: code, origin: 0, length: 64K, access: rwx}
  - {name: ram, origin: 0x20000000, length: 64K, access: rw}
flash: code
qemu: {system: qemu-system-arm, machine: mps2-an386}
"""


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "boards" / "desk" / "board.yml"
    path.parent.mkdir(parents=True)
    path.write_text(BOARD)
    return path


@NEEDS_NINJA
@NEEDS_ARM
def test_it_is_built_verified_and_run(board: Path, tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, board, project)
    with projects.given(board):
        ran = microgen.run(project, compare=True)  # verifies, too
        record = manifest.load(project)
        sizes = verifier.measure(project / "build" / "firmware.elf", record)
    assert all(v.ok for v in ran.verdicts if not v.is_skipped)
    assert ran.checks.check("constants_section").status == "ok"
    elf = elf_reader.load(project / "build" / "firmware.elf")
    loaded = {s.name: s for s in elf.sections if s.has_bytes and s.size}
    assert {".vectors", ".text", ".rodata.tvm"} <= loaded.keys()
    for section in loaded.values():  # nothing is loaded but code and what start-up code copies
        assert section.load < 64 << 10
        assert section.load == section.address or section.name == ".data"
    assert sizes.flash == sum(section.size for section in loaded.values())
    assert (
        sizes.ram
        == sum(s.size for s in elf.sections if s.address >= 0x20000000 and s.name != ".stack")
        + record.board["stack_bytes"]
    )
    assert not {s.rights for s in elf.segments} - {"rx", "r", "rw"}


@NEEDS_NINJA
@NEEDS_ARM
def test_constants_may_lie_there_and_workspaces_may_not(board: Path, tmp_path: Path) -> None:
    pools = ("sram:*", "weights:*:const:memory=code")
    microgen.generate(SMALL, board, tmp_path / "p", pool=pools)
    with projects.given(board):
        assert microgen.verify(tmp_path / "p").ok
    with pytest.raises(
        BoardError, match="desk has no memory 'code' for this pool; choose from ram"
    ):
        microgen.compile_model(SMALL, board, pool=("all:*:memory=code",))


def test_code_and_data_need_two_memories(board: Path) -> None:
    board.write_text(BOARD.replace("flash: code\n", "flash: code\nram: code\n"))
    with pytest.raises(BoardError, match=r"7:6: ram is code, the memory for code.*split the mem"):
        found.at(board)
