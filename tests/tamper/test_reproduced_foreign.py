"""What ``reproduce`` compares in another build system's ELF: each byte of a model's functions and
constants, and their symbols."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from microgen.base import manifest
from microgen.base.errors import MicrogenError
from microgen.target import board as boards
from microgen.verifier.again import foreign, recompiled, same_functions
from microgen.verifier.elf import elf as elf_reader
from microgen.verifier.elf.relocatable import ObjectFile
from tests.support.minimal_project import board_params
from tests.support.tools import needs
from tests.tamper import vendor
from tests.tamper.elf32 import PT_LOAD, STB_LOCAL, STT_FUNC, STT_OBJECT, Elf32, Record

pytestmark = needs("cmake", "ninja")
_MANY = [pytest.param(40, id="40"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]


@cache
def _sound(board: str) -> tuple[bytes, list[ObjectFile], set[str]]:
    """The vendor's program, what it is compared with, and the functions that it must have."""
    project = vendor.project(board)
    path = project / "vendor.elf"
    of = recompiled.sources(project)
    made = recompiled.compiled(of, recompiled.recorded(path, of), boards.load(board), ())
    machine = elf_reader.load(path).machine
    files = [same_functions.read(one, machine) for one in made]
    return path.read_bytes(), files, foreign.required(manifest.load(project))


def _of_model(elf: Elf32) -> list[Record]:
    """The symbols of the model's functions and constants, and of its arena."""
    return [
        symbol
        for name, symbol in elf.symbols()
        if name.startswith(("tvmgen_", "mg_"))
        and symbol["st_info"] & 15 in (STT_FUNC, STT_OBJECT)
        and symbol["st_size"]
    ]


def _byte(elf: Elf32, chance: random.Random) -> None:
    """A byte of a function or a constant."""
    loaded = [s for s in elf.segments() if s["p_type"] == PT_LOAD and s["p_filesz"]]
    places = {}
    for symbol in _of_model(elf):
        start = symbol["st_value"] & ~(elf.is_arm and symbol["st_info"] & 15 == STT_FUNC)
        for segment in loaded:
            offset = start - segment["p_vaddr"]
            if 0 <= offset < segment["p_filesz"]:
                places[start] = segment["p_offset"] + offset, symbol["st_size"]
    kinds = list(places.values())
    at, size = chance.choices(kinds, weights=[min(size, 2000) for _, size in kinds])[0]
    elf.data[at + chance.randrange(size)] ^= chance.randrange(1, 256)


def _symbol(elf: Elf32, chance: random.Random) -> None:
    """The address or the size of a symbol with a global name."""
    symbol = chance.choice([s for s in _of_model(elf) if s["st_info"] >> 4 != STB_LOCAL])
    field = chance.choice(("st_value", "st_size"))
    symbol[field] = (symbol[field] + chance.choice((-64, -4, -2, 2, 4, 64, 1 << 20))) % 2**32


@pytest.mark.sampled(1)
@pytest.mark.parametrize("count", _MANY)
@pytest.mark.parametrize("change", [_byte, _symbol])
@pytest.mark.parametrize("board", board_params(*vendor.BOARDS))
def test_every_change_is_noticed(
    board: str, change: Callable[[Elf32, random.Random], None], count: int, tmp_path: Path
) -> None:
    sound, files, required = _sound(board)
    path = tmp_path / "changed.elf"
    for seed in range(count):
        elf = Elf32(sound)
        change(elf, random.Random(seed))
        path.write_bytes(elf.data)
        assert _is_noticed(path, files, required), f"seed {seed}"


def _is_noticed(path: Path, files: list[ObjectFile], required: set[str]) -> bool:
    try:
        return any(same_functions.differences(elf_reader.load(path), files, required))
    except MicrogenError:
        return True


@pytest.mark.parametrize("board", board_params(*vendor.BOARDS))
def test_what_is_equal_is_equal(board: str, tmp_path: Path) -> None:
    sound, files, required = _sound(board)
    (tmp_path / "same.elf").write_bytes(sound)
    program = elf_reader.load(tmp_path / "same.elf")
    assert not [*same_functions.differences(program, files, required)]
