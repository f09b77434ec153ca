"""The fast reading of symbols gives what pyelftools' slow one gives."""

from __future__ import annotations

import io
import struct

import pytest
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from microgen.verifier.elf import symbol_table
from tests.support import minimal_project
from tests.support.minimal_project import board_params

# ELF of 32 and of 64 bits.
BOARDS = board_params("mps2_an386", "native")


def _slowly(file: ELFFile) -> list[tuple[object, ...]]:
    found = []
    for symbol in file.get_section_by_name(".symtab").iter_symbols():
        kind, binding = (
            symbol["st_info"][part].split("_", 1)[1].lower() for part in ("type", "bind")
        )
        place = {"SHN_UNDEF": 0, "SHN_ABS": None, "SHN_COMMON": None}
        section = place.get(symbol["st_shndx"], symbol["st_shndx"])
        found.append((symbol.name, symbol["st_value"], symbol["st_size"], kind, binding, section))
    return found


@minimal_project.needs_build
@pytest.mark.parametrize("board", BOARDS)
def test_every_symbol_is_what_pyelftools_reads(board: str) -> None:
    data = minimal_project.built(board).elf.read_bytes()
    found = [tuple(entry) for entry in symbol_table.entries(ELFFile(io.BytesIO(data)))]
    assert found == _slowly(ELFFile(io.BytesIO(data)))
    assert {entry[3] for entry in found} >= {"file", "func", "object", "notype"}


@minimal_project.needs_build
@pytest.mark.parametrize("board", BOARDS)
def test_a_table_that_the_file_does_not_have_is_an_error(board: str) -> None:
    data = bytearray(minimal_project.built(board).elf.read_bytes())
    file = ELFFile(io.BytesIO(data))
    row = file["e_shoff"] + file.get_section_index(".symtab") * file["e_shentsize"]
    # The field sh_size.
    layout, at = ("<I", 20) if file.elfclass == 32 else ("<Q", 32)
    entry = file.get_section_by_name(".symtab")["sh_entsize"]
    struct.pack_into(layout, data, row + at, entry * 10_000_000)
    with pytest.raises(ELFError, match="ends outside the file"):
        list(symbol_table.entries(ELFFile(io.BytesIO(data))))


@minimal_project.needs_build
def test_a_file_without_symbols_has_none() -> None:
    data = bytearray(minimal_project.built("native").elf.read_bytes())
    file = ELFFile(io.BytesIO(data))
    row = file["e_shoff"] + file.get_section_index(".symtab") * file["e_shentsize"]
    struct.pack_into("<I", data, row + 4, 1)  # its type: SHT_PROGBITS
    assert list(symbol_table.entries(ELFFile(io.BytesIO(data)))) == []
