"""The parts of an ELF that a run needs: the addresses of its functions and planned buffers, and the
bytes to load."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from microgen.base.errors import RunError
from microgen.verifier.elf import elf, headers
from microgen.verifier.elf.elf import Elf

FILE = "firmware.elf"  # in the folder of a run
# Bits of p_flags in an ELF program header: PF_R, PF_W and PF_X.
_RIGHTS = {"r": 4, "w": 2, "x": 1}


@dataclass(frozen=True, slots=True)
class Image:
    """An ELF's symbols. ``symbols``: name -> (address, size), functions without Arm's Thumb bit.
    ``machine`` is ELF's name for the processor (``EM_ARM``), ``entry`` the entry point.
    ``buffers``: (source file, name) -> address of local objects. ``loadable`` is an ELF file of the
    program's segments, for an emulator; empty if its addresses have 64 bits."""

    path: Path
    machine: str
    entry: int
    symbols: Mapping[str, tuple[int, int]]
    buffers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    loadable: bytes = b""

    def written(self, folder: Path) -> Path:
        """The program as it was read, as a file in ``folder`` for an emulator. Raises RunError if
        the program's addresses have 64 bits."""
        if not self.loadable:
            raise RunError("is no program for this board", where=str(self.path))
        (folder / FILE).write_bytes(self.loadable)
        return folder / FILE

    def buffer(self, module: str, name: str) -> int:
        """The address of a planned buffer. Every model numbers its own buffers, so the buffer is
        found by its module's file; otherwise by its name, as in ``address``."""
        # The planned buffers are local symbols of the module's own assembler file.
        address = self.buffers.get((f"{module}_memory.S", name))
        return self.address(name) if address is None else address

    def address(self, name: str) -> int:
        """The address of a symbol. Raises RunError if the ELF has none of that name."""
        return self.extent(name)[0]

    def address_or_none(self, name: str) -> int | None:
        """The address of a symbol; None if the ELF has none of that name."""
        return self.symbols[name][0] if name in self.symbols else None

    def extent(self, name: str) -> tuple[int, int]:
        """The first address of a symbol, and the first address after its end. Raises like
        ``address``."""
        if name not in self.symbols:
            raise RunError(
                f"the program has no symbol {name}",
                where=str(self.path),
                hint="build it again without stripping it, then run `microgen verify`",
            )
        address, size = self.symbols[name]
        return address, address + size

    def place(self, address: int) -> str:
        """The address as text: in hexadecimal, with the symbol that contains it, if any."""
        for name, (start, size) in self.symbols.items():
            if start <= address < start + size:
                return f"{address:#x} in {name}"
        return f"{address:#x}"


def load(path: Path) -> Image:
    """Read an ELF's symbols. A global symbol takes precedence over local ones of the same name.

    Raises ProjectError if the file is absent or damaged.
    """
    program = elf.load(path)
    symbols = {
        s.name: (program.code_address(s) if s.kind == "func" else s.address, s.size)
        # Local symbols first, so that a global one of the same name replaces them.
        for s in sorted(program.symbols, key=lambda s: s.binding != "local")
        if s.kind in ("func", "object")
    }
    buffers = {
        (PurePosixPath(s.file).name, s.name): s.address
        for s in program.symbols
        if (s.kind, s.binding) == ("object", "local")
    }
    return Image(path, program.machine, program.entry, symbols, buffers, _loadable(program))


def _loadable(program: Elf) -> bytes:
    """An ELF file of the loaded segments: the ELF header, the program headers and the segments,
    without sections. It is empty for a program with addresses of 64 bits.

    All loaders read this file in the same way, so an emulator loads the bytes that ``verify`` has
    checked.
    """
    table = program.headers
    # FORMS[1] has addresses of 32 bits, as all emulated boards have.
    if table is None or table.form is not headers.FORMS[1]:
        return b""
    form, parts = table.form, [(s, data) for s, data in program.loaded() if s.size]
    at = form.header_nbytes + form.segment_nbytes * len(parts)
    rows, content = [], []
    for segment, data in parts:
        rights = sum(_RIGHTS[right] for right in segment.rights)
        # p_align 1 means no alignment, so the offset in the file may have any value.
        sizes = (len(data), segment.size, rights, 1)
        row = (headers.PT_LOAD, at, segment.address, segment.load, *sizes)
        rows.append(struct.pack(form.segment, *row))
        content.append(data)
        at += len(data)
    # A loader must not look for sections, because their bytes are not in this file.
    header = table.file._replace(
        segments_at=form.header_nbytes,
        segment_count=len(parts),
        sections_at=0,
        section_count=0,
        names_section=0,
    )
    return b"".join([table.ident, struct.pack(form.header, *header), *rows, *content])
