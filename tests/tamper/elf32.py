"""Changes a little-endian ELF32 file in place: headers, symbols, and words at addresses."""

from __future__ import annotations

import struct
from collections.abc import Iterator

PT_NULL, PT_LOAD, PT_TLS = 0, 1, 7
SHT_PROGBITS, SHT_SYMTAB, SHT_NOBITS = 1, 2, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_FILE = 0, 1, 2, 4
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
SHN_ABS = 0xFFF1
PF_X, PF_W, PF_R = 1, 2, 4


def _fields(prefix: str, rows: str) -> dict[str, tuple[int, str]]:
    """Fields by name, each with its offset and format, from their names and sizes in order."""
    found, offset = {}, 0
    for row in rows.split():
        name, size = row.split(":")
        found[prefix + name] = (offset, {1: "B", 2: "H", 4: "I"}.get(int(size), ""))
        offset += int(size)
    return found


# Source: System V ABI, "Object Files".
_HEADER = _fields(
    "e_",
    "ident:16 type:2 machine:2 version:4 entry:4 phoff:4 shoff:4 flags:4 ehsize:2 phentsize:2 "
    "phnum:2 shentsize:2 shnum:2 shstrndx:2",
)
_SEGMENT = _fields("p_", "type:4 offset:4 vaddr:4 paddr:4 filesz:4 memsz:4 flags:4 align:4")
_SECTION = _fields(
    "sh_", "name:4 type:4 flags:4 addr:4 offset:4 size:4 link:4 info:4 addralign:4 entsize:4"
)
_SYMBOL = _fields("st_", "name:4 value:4 size:4 info:1 other:1 shndx:2")
_SEGMENT_SIZE, _SECTION_SIZE, _SYMBOL_SIZE = 32, 40, 16


class Record:
    """A structure in the file, whose fields are read and written by name."""

    def __init__(self, data: bytearray, at: int, fields: dict[str, tuple[int, str]]) -> None:
        self._data, self.at, self._fields = data, at, fields

    def __getitem__(self, name: str) -> int:
        offset, form = self._fields[name]
        return int(struct.unpack_from(f"<{form}", self._data, self.at + offset)[0])

    def __setitem__(self, name: str, value: int) -> None:
        offset, form = self._fields[name]
        struct.pack_into(f"<{form}", self._data, self.at + offset, value)

    def name(self, field: str) -> str:
        """The name of a field that is given without its prefix."""
        return next(name for name in self._fields if name.split("_", 1)[1] == field)

    def raw(self, size: int) -> bytes:
        return bytes(self._data[self.at : self.at + size])


class Elf32:
    """The bytes of an ELF file. ``data`` is what the changes have made of them."""

    def __init__(self, data: bytes) -> None:
        assert data[:6] == b"\x7fELF\x01\x01"
        self.data = bytearray(data)
        self.header = Record(self.data, 0, _HEADER)

    @property
    def is_arm(self) -> bool:
        return self.header["e_machine"] == 40

    def segments(self) -> list[Record]:
        start, count = self.header["e_phoff"], self.header["e_phnum"]
        return [Record(self.data, start + _SEGMENT_SIZE * i, _SEGMENT) for i in range(count)]

    def sections(self) -> list[Record]:
        start, count = self.header["e_shoff"], self.header["e_shnum"]
        return [Record(self.data, start + _SECTION_SIZE * i, _SECTION) for i in range(count)]

    def section(self, name: str) -> Record:
        return self.sections()[self.section_index(name)]

    def section_index(self, name: str) -> int:
        return [self._section_name(s) for s in self.sections()].index(name)

    def _section_name(self, section: Record) -> str:
        names = self.sections()[self.header["e_shstrndx"]]
        return self._string(names["sh_offset"] + section["sh_name"])

    def _string(self, at: int) -> str:
        return self.data[at : self.data.index(0, at)].decode()

    def segment_of(self, name: str) -> Record:
        """The loadable segment that a section is in."""
        address = self.section(name)["sh_addr"]
        return next(
            s
            for s in self.segments()
            if s["p_type"] == PT_LOAD and 0 <= address - s["p_vaddr"] < s["p_memsz"]
        )

    def _symbol_table(self) -> Record:
        return next(s for s in self.sections() if s["sh_type"] == SHT_SYMTAB)

    def symbols(self) -> Iterator[tuple[str, Record]]:
        table = self._symbol_table()
        strings = self.sections()[table["sh_link"]]["sh_offset"]
        for at in range(table["sh_offset"], table["sh_offset"] + table["sh_size"], _SYMBOL_SIZE):
            record = Record(self.data, at, _SYMBOL)
            yield self._string(strings + record["st_name"]), record

    def symbol(self, name: str) -> Record:
        return next(record for found, record in self.symbols() if found == name)

    def names(self, prefix: str) -> list[str]:
        """The symbols that begin so, in the order of the table."""
        return [name for name, _ in self.symbols() if name.startswith(prefix)]

    def constants(self) -> list[str]:
        """The model's constants, largest first."""
        section = self.section_index(".rodata.tvm")
        sizes = {n: s["st_size"] for n, s in self.symbols() if s["st_shndx"] == section and n}
        return sorted((n for n in sizes if sizes[n]), key=lambda n: (-sizes[n], n))

    def alike_constants(self) -> tuple[Record, Record]:
        """Two constants of one size and with different bytes."""
        named = [self.symbol(name) for name in self.constants()]
        return next(
            (a, b)
            for i, a in enumerate(named)
            for b in named[i + 1 :]
            if a["st_size"] == b["st_size"]
            if self.get(a["st_value"], a["st_size"]) != self.get(b["st_value"], b["st_size"])
        )

    def padding(self, section: str) -> int:
        """The first byte of a section that no function or object has."""
        number = self.section_index(section)
        found = [s for _, s in self.symbols() if s["st_shndx"] == number and s["st_size"]]
        end = self.section(section)["sh_addr"]
        for symbol in sorted(found, key=lambda s: s["st_value"]):
            start = symbol["st_value"] & ~(self.is_arm and symbol["st_info"] & 15 == STT_FUNC)
            if start > end:
                return end
            end = max(end, start + symbol["st_size"])
        raise AssertionError(f"{section} has no padding")

    def offset(self, address: int) -> int:
        """Where the file has the byte at an address."""
        return next(
            s["p_offset"] + address - s["p_vaddr"]
            for s in self.segments()
            if s["p_type"] == PT_LOAD and 0 <= address - s["p_vaddr"] < s["p_filesz"]
        )

    def word(self, address: int) -> int:
        return int(struct.unpack_from("<I", self.data, self.offset(address))[0])

    def put_word(self, address: int, value: int) -> None:
        struct.pack_into("<I", self.data, self.offset(address), value)

    def put(self, address: int, new: bytes) -> None:
        at = self.offset(address)
        self.data[at : at + len(new)] = new

    def get(self, address: int, size: int) -> bytes:
        at = self.offset(address)
        return bytes(self.data[at : at + size])

    def set_kind(self, name: str, kind: int | None = None, binding: int | None = None) -> None:
        symbol = self.symbol(name)
        old = symbol["st_info"]
        kind, binding = (
            (old & 15 if kind is None else kind),
            old >> 4 if binding is None else binding,
        )
        symbol["st_info"] = binding << 4 | kind

    def rename(self, name: str, new: str) -> None:
        self.symbol(name)["st_name"] = self._add_string(new)

    def add_symbol(
        self, name: str, like: str, *, file: str = "", binding: int | None = None, **fields: int
    ) -> None:
        """A copy of a symbol under another name; local ones are listed under ``file``, or, without
        one, after the symbol that they are like."""
        model, text = self.symbol(like), self._add_string(name)
        table = self._symbol_table()
        made = bytearray(model.raw(_SYMBOL_SIZE))
        record = Record(made, 0, _SYMBOL)
        record["st_name"] = text
        for field, value in fields.items():
            record[f"st_{field}"] = value
        if binding is not None:
            record["st_info"] = binding << 4 | record["st_info"] & 15
        is_local = record["st_info"] >> 4 == STB_LOCAL
        start, size = table["sh_offset"], table["sh_size"]
        after = self.symbol(file) if file else model
        place = after.at + _SYMBOL_SIZE if is_local else start + size
        old = bytes(self.data[start : start + size])
        table["sh_offset"] = self._append(old[: place - start] + made + old[place - start :])
        table["sh_size"] = size + _SYMBOL_SIZE
        table["sh_info"] += is_local

    def add_segment(self, like: Record, **fields: int) -> None:
        """A copy of a segment, with other values of some fields."""
        records = self.segments()
        table = b"".join(record.raw(_SEGMENT_SIZE) for record in (*records, like))
        self.header["e_phoff"] = self._append(table)
        self.header["e_phnum"] = len(records) + 1
        for field, value in fields.items():
            self.segments()[-1][f"p_{field}"] = value

    def _add_string(self, text: str) -> int:
        strings = self.sections()[self._symbol_table()["sh_link"]]
        start, size = strings["sh_offset"], strings["sh_size"]
        whole = bytes(self.data[start : start + size]) + text.encode() + b"\0"
        strings["sh_offset"], strings["sh_size"] = self._append(whole), len(whole)
        return size

    def _append(self, new: bytes) -> int:
        self.data += bytes(-len(self.data) % 4)
        start = len(self.data)
        self.data += new
        return start
