"""What an emulator loads is what the verifier has read: the segments, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.base.errors import ProjectError, RunError
from microgen.running import runner
from microgen.running.runner import image, qemu
from microgen.running.runner.image import Image
from microgen.target.board import Board
from microgen.verifier.elf import elf, headers
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper.elf32 import Elf32
from tests.tamper.firmware import BOARDS, firmware
from tests.tamper.tampers import put
from tests.tamper.tiny import tiny

pytestmark = needs("cmake", "ninja")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("board", board_params(*BOARDS))
def test_an_emulator_gets_a_file_of_the_segments(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = firmware(board)
    original = project / "build" / "firmware.elf"
    given: list[bytes] = []
    real = qemu.command

    def command(of: Board, path: Path, **options: bool | str) -> list[str]:
        given.append(path.read_bytes())
        return real(of, path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(qemu, "command", command)
    assert runner.run(project).status == 0
    (made,) = given
    assert made == image.load(original).loadable != original.read_bytes()
    read, program = headers.read(made), elf.load(original)
    assert read.file.section_count == 0
    assert read.file.entry == program.entry
    loaded = [(s, data) for s, data in program.loaded() if s.size]
    assert len(read.segments) == len(loaded) > 3
    for segment, (wanted, data) in zip(read.segments, loaded, strict=True):
        assert (segment.address, segment.load) == (wanted.address, wanted.load)
        assert (segment.size, segment.file_size) == (wanted.size, len(data))
        assert made[segment.offset : segment.offset + segment.file_size] == data
    parts = sum(segment.file_size for segment in read.segments)
    assert len(made) == 52 + 32 * len(loaded) + parts


@pytest.mark.parametrize("board", board_params(BOARDS[0]))
def test_a_file_that_emulators_read_otherwise_is_not_run(board: str, tmp_path: Path) -> None:
    """QEMU 7.2 loads this file's bytes as they are at address 0."""
    project = firmware(board)
    changed = Elf32((project / "build" / "firmware.elf").read_bytes())
    put(changed.sections()[0], info=changed.header["e_phnum"])
    put(changed.header, phnum=0xFFFF)
    path = tmp_path / "changed.elf"
    path.write_bytes(changed.data)
    with pytest.raises(ProjectError, match=r"e_phnum is 0xffff, expected 1 to 0xfffe: .*QEMU"):
        runner.run(project, elf=path)


def test_a_program_of_the_host_is_not_given_to_an_emulator(tmp_path: Path) -> None:
    (tmp_path / "a.elf").write_bytes(tiny())
    assert image.load(tmp_path / "a.elf").written(tmp_path).read_bytes()[:4] == b"\x7fELF"
    with pytest.raises(RunError, match="is no program for this board"):
        Image(Path("host.elf"), "EM_X86_64", 0, {}).written(tmp_path)
