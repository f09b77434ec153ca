"""What ``reproduce`` compares with the ELF built again: whatever differs of what is loaded, of
symbols and of sections is noticed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from microgen.base.errors import ProjectError
from microgen.verifier.again.same_image import differences
from microgen.verifier.elf import elf as elf_reader
from microgen.verifier.elf.elf import Elf
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper.elf32 import PT_LOAD, SHF_ALLOC, STT_FILE, Elf32, Record
from tests.tamper.firmware import BOARDS, firmware

pytestmark = needs("cmake", "ninja")
_MANY = [pytest.param(40, id="40"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]


@cache
def _sound(board: str) -> tuple[bytes, Elf]:
    path = firmware(board) / "build" / "firmware.elf"
    return path.read_bytes(), elf_reader.load(path)


def _byte(elf: Elf32, chance: random.Random) -> None:
    """A byte that is loaded, of any segment."""
    loaded = [s for s in elf.segments() if s["p_type"] == PT_LOAD and s["p_filesz"]]
    segment = chance.choice(loaded)
    at = segment["p_offset"] + chance.randrange(segment["p_filesz"])
    elf.data[at] ^= chance.randrange(1, 256)


def _changed(record: Record, field: str, chance: random.Random) -> None:
    record[field] = (record[field] + chance.choice((-64, -4, -1, 1, 4, 64, 1 << 20))) % 2**32


def _symbol(elf: Elf32, chance: random.Random) -> None:
    """The address or the size of a symbol that has an address."""
    named = [
        s for name, s in elf.symbols() if name and s["st_info"] & 15 != STT_FILE and s["st_shndx"]
    ]
    _changed(chance.choice(named), chance.choice(("st_value", "st_size")), chance)


def _section(elf: Elf32, chance: random.Random) -> None:
    """The address or the size of a section that is loaded or reserved."""
    loaded = [s for s in elf.sections() if s["sh_flags"] & SHF_ALLOC and s["sh_size"]]
    _changed(chance.choice(loaded), chance.choice(("sh_addr", "sh_size")), chance)


def _segment(elf: Elf32, chance: random.Random) -> None:
    """The address, load address or a size of a segment."""
    loaded = [s for s in elf.segments() if s["p_type"] == PT_LOAD]
    fields = ("p_vaddr", "p_paddr", "p_memsz", "p_filesz")
    _changed(chance.choice(loaded), chance.choice(fields), chance)


def _flags(elf: Elf32, chance: random.Random) -> None:
    """A bit of the ELF header's flags, such as how floats are passed."""
    elf.header["e_flags"] ^= 1 << chance.randrange(32)


def _type(elf: Elf32, chance: random.Random) -> None:
    """The type of a section that is loaded or reserved."""
    loaded = [s for s in elf.sections() if s["sh_flags"] & SHF_ALLOC and s["sh_size"]]
    chance.choice(loaded)["sh_type"] ^= chance.randrange(1, 32)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", _MANY)
@pytest.mark.parametrize("change", [_byte, _symbol, _section, _segment, _flags, _type])
@pytest.mark.parametrize("board", board_params(*BOARDS))
def test_every_change_is_noticed(
    board: str, change: Callable[[Elf32, random.Random], None], count: int, tmp_path: Path
) -> None:
    sound, again = _sound(board)
    path = tmp_path / "changed.elf"
    for seed in range(count):
        elf = Elf32(sound)
        change(elf, random.Random(seed))
        path.write_bytes(elf.data)
        assert _is_noticed(path, again), f"seed {seed}"


def _is_noticed(path: Path, again: Elf) -> bool:
    try:
        return any(differences(elf_reader.load(path), again))
    except ProjectError:
        return True


@pytest.mark.parametrize("board", board_params(*BOARDS))
def test_what_is_equal_is_equal(board: str) -> None:
    _, again = _sound(board)
    assert not [*differences(again, again)]
