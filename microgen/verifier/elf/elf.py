"""Reads an ELF file for verify. ``relocatable`` reads object files, ``producers`` debug data."""

from __future__ import annotations

import functools
import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection, RISCVAttributesSection
from elftools.elf.sections import Section as ElfSection

from microgen.base.errors import ProjectError
from microgen.base.formats.c_layout import aligned
from microgen.verifier.elf import header_rules, headers, symbol_table
from microgen.verifier.elf.headers import Headers, ProgramHeader

_SHF_WRITE, _SHF_ALLOC, _SHF_EXECINSTR, _SHF_COMPRESSED = 1, 2, 4, 0x800
_EM_ARM, _EM_RISCV = "EM_ARM", "EM_RISCV"
_MOST_BYTES = 1 << 29  # of a file
# All that pyelftools raises for damaged files: tests/tamper/test_fuzz.py damages some.
DAMAGED = (
    *(ELFError, ValueError, KeyError, AttributeError, TypeError, struct.error, OSError),
    *(AssertionError, IndexError, OverflowError),
)
BUILD_FIRST = "run `microgen build DIR` first"

# Names as readelf -A prints them. Source: Arm IHI 0045, "Addenda to the ABI for the Arm
# Architecture", section 3.3.
_ARCHITECTURES = {
    10: "v7",
    11: "v6-M",
    12: "v6S-M",
    13: "v7E-M",
    14: "v8",
    16: "v8-M.baseline",
    17: "v8-M.mainline",
    21: "v8.1-M.mainline",
}
_PROFILES = {0: "None", ord("A"): "Application", ord("R"): "Realtime", ord("M"): "Microcontroller"}
_VFP_ARGS = {0: "AAPCS", 1: "VFP registers", 3: "compatible"}
_NONE = {0: "none"}
_ATTRIBUTES: Mapping[str, tuple[str, Mapping[int, str]]] = {
    "TAG_CPU_ARCH": ("Tag_CPU_arch", _ARCHITECTURES),
    "TAG_CPU_ARCH_PROFILE": ("Tag_CPU_arch_profile", _PROFILES),
    "TAG_ABI_VFP_ARGS": ("Tag_ABI_VFP_args", _VFP_ARGS),
    "TAG_FP_ARCH": ("Tag_FP_arch", {**_NONE, 6: "VFPv4-D16", 8: "FPv5/FP-D16 for ARMv8"}),
    "TAG_DSP_EXTENSION": ("Tag_DSP_extension", {**_NONE, 1: "Allowed"}),
    "TAG_MVE_ARCH": ("Tag_MVE_arch", {**_NONE, 1: "MVE Integer only", 2: "MVE Integer and FP"}),
    # Source: RISC-V ELF psABI, "Attributes".
    "TAG_ARCH": ("Tag_RISCV_arch", {}),
    "TAG_STACK_ALIGN": ("Tag_RISCV_stack_align", {16: "16-bytes", 4: "4-bytes"}),
}
# The same, "File Header": bits 1 and 2 of the flags.
_RISCV_FLOAT_ABI = {0: "soft", 2: "single", 4: "double", 6: "quad"}


class _Extent:
    """The ends of ``size`` bytes at an address."""

    __slots__ = ()
    address: int
    size: int

    @property
    def end(self) -> int:
        """The first address after the extent."""
        return self.address + self.size

    def holds(self, address: int) -> bool:
        """Whether the address lies in the extent."""
        return self.address <= address < self.end


@dataclass(frozen=True, slots=True)
class Symbol(_Extent):
    """A defined symbol. ``kind`` and ``binding`` are ELF's names in lower case ("object",
    "func", "notype"; "local", "global", "weak"). ``file`` is the STT_FILE symbol of a local
    symbol, ``section`` its output section ("" for absolute symbols)."""

    name: str
    address: int
    size: int
    kind: str
    binding: str
    section: str
    file: str

    @property
    def stem(self) -> str:
        """The name in the source, without the suffix of a compiler's clone (``.part.0``)."""
        return self.name.split(".", 1)[0]

    def __str__(self) -> str:
        return f"{self.name} at {self.address:#x}, {self.size} bytes, in {self.section or 'none'}"


@dataclass(frozen=True, slots=True)
class Section(_Extent):
    """An output section that takes memory. ``load`` is the address of its bytes in the image (LMA).
    It is equal to ``address`` unless start-up code copies the section. ``kind`` is ELF's type in
    lower case ("progbits"); ``has_bytes`` is false for NOBITS. ``offset`` is the place of its bytes
    in the file. Its address is a multiple of ``alignment``."""

    name: str
    address: int
    load: int
    size: int
    writable: bool
    executable: bool
    has_bytes: bool
    kind: str
    offset: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Note:
    """A note of a section that is not loaded: its owner, its type and its content."""

    owner: str
    type: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Elf:
    """A linked program. ``attributes`` are the build attributes that checks use, under readelf's
    names; RISC-V's "float ABI" is from the ELF header. ``nbytes`` is the size of the file.
    ``compilers`` are the texts in which compilers name themselves, sorted. ``flags`` are the ELF
    header's, ``headers`` all of the headers; None for a program that is not from a file."""

    path: Path
    nbytes: int
    machine: str
    entry: int
    symbols: tuple[Symbol, ...]
    sections: tuple[Section, ...]
    segments: tuple[ProgramHeader, ...]
    attributes: Mapping[str, str]
    notes: tuple[Note, ...]
    compilers: tuple[str, ...]
    _image: tuple[tuple[int, bytes], ...]
    flags: int = 0
    headers: Headers | None = None

    def named(self, name: str, kind: str = "") -> list[Symbol]:
        """Every symbol called ``name``, of any kind or of one kind."""
        return [s for s in self.symbols if s.name == name and kind in ("", s.kind)]

    @property
    def names_files(self) -> bool:
        """Whether symbols are listed under source files. ``strip -g`` removes the files' names."""
        return any(symbol.file for symbol in self.symbols)

    def functions(self) -> Iterator[Symbol]:
        """Every function symbol."""
        return (symbol for symbol in self.symbols if symbol.kind == "func")

    def section_at(self, address: int) -> Section | None:
        """The section at the address; sections of size zero are never returned."""
        return next((s for s in self.sections if s.holds(address)), None)

    def read(self, address: int, size: int) -> bytes | None:
        """``size`` bytes of the image at a run-time address; None if the file has no bytes for
        it."""
        for start, data in self._image:
            if start <= address and address + size <= start + len(data):
                return data[address - start : address - start + size]
        return None

    def image(self) -> tuple[tuple[int, bytes], ...]:
        """The bytes that the file has of each segment, by address."""
        return self._image

    def loaded(self) -> Iterator[tuple[ProgramHeader, bytes]]:
        """Each segment with the bytes that the file has of it, which may be none."""
        data = iter(self._image)
        return ((s, next(data)[1] if s.file_size else b"") for s in self.segments)

    def word(self, address: int) -> int | None:
        """The little-endian 32-bit word at an address; None if the file has no bytes for it."""
        data = self.read(address, 4)
        return None if data is None else int.from_bytes(data, "little")

    def code_address(self, symbol: Symbol) -> int:
        """The address of a function's first instruction, without Arm's Thumb bit."""
        return symbol.address & ~1 if self.machine == _EM_ARM else symbol.address


def load(path: Path, missing: str = BUILD_FIRST) -> Elf:
    """Read an ELF executable. Raises ProjectError if it is absent, with the hint ``missing``, if it
    is damaged, or if not everybody reads its headers in the same way."""
    if path.exists() and not path.is_file():  # a device or a pipe might never end
        raise ProjectError("is not a regular file", where=str(path), hint="build again")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ProjectError(f"has more than {_MOST_BYTES} bytes", where=str(path))
        data = path.read_bytes()
    except OSError as error:
        raise ProjectError(
            f"cannot be read: {error.strerror}", where=str(path), hint=missing
        ) from error
    try:
        return _parsed(path, data)
    except DAMAGED as error:
        raise ProjectError(
            "is not an ELF executable, or is damaged", where=str(path), hint="build again"
        ) from error


@functools.lru_cache(maxsize=1)  # verifying a firmware and running it both read the same file
def _parsed(path: Path, data: bytes) -> Elf:
    headers_of_file = _headers(path, data)
    segments = tuple(headers_of_file.loaded)
    file = ELFFile(io.BytesIO(data))
    sections = list(file.iter_sections())
    return Elf(
        path=path,
        nbytes=len(data),
        machine=str(file["e_machine"]),
        entry=int(file["e_entry"]),
        symbols=tuple(_symbols(file, sections)),
        sections=tuple(_sections(sections, segments)),
        segments=segments,
        attributes=_attributes(file),
        notes=tuple(_notes(file, sections)),
        compilers=_compilers(file),
        _image=tuple((s.address, s.bytes_in(data)) for s in segments if s.file_size),
        flags=int(file["e_flags"]),
        headers=headers_of_file,
    )


def _headers(path: Path, data: bytes) -> Headers:
    if not data.startswith(headers.MAGIC) or len(data) < headers.LEAST:
        raise ELFError("no ELF file")
    table = headers.read(data)
    # Before pyelftools reads anything: it may read such headers differently from others.
    for problem in header_rules.problems(table, "any"):
        raise ProjectError(f"is refused: {problem}", where=str(path), hint="build again")
    return table


def _sections(
    sections: Sequence[ElfSection], segments: tuple[ProgramHeader, ...]
) -> Iterator[Section]:
    for section in sections:
        flags, address = int(section["sh_flags"]), int(section["sh_addr"])
        if not flags & _SHF_ALLOC:
            continue
        yield Section(
            name=section.name,
            address=address,
            load=_load_address(address, segments),
            size=int(section["sh_size"]),
            writable=bool(flags & _SHF_WRITE),
            executable=bool(flags & _SHF_EXECINSTR),
            has_bytes=section["sh_type"] != "SHT_NOBITS",
            kind=_lower(section["sh_type"]),
            offset=int(section["sh_offset"]),
            alignment=int(section["sh_addralign"]),
        )


def _load_address(address: int, segments: tuple[ProgramHeader, ...]) -> int:
    # ELF has no load addresses of sections, only of segments.
    segment = next((s for s in segments if s.holds(address)), None)
    return address if segment is None else address - segment.address + segment.load


def _symbols(file: ELFFile, sections: Sequence[ElfSection]) -> Iterator[Symbol]:
    source = ""
    for entry in symbol_table.entries(file):
        if entry.kind == "file":
            source = entry.name
        elif entry.name and entry.section != symbol_table.UNDEFINED and entry.kind != "section":
            section = "" if entry.section is None else sections[entry.section].name
            # Global symbols come after all files, and belong to none.
            file_name = source if entry.binding == "local" else ""
            yield Symbol(*entry[:5], section, file_name)


def _notes(file: ELFFile, sections: Sequence[ElfSection]) -> Iterator[Note]:
    """Every note of the sections that are not loaded, in their order. A damaged one ends its
    section."""
    order = "<" if file.little_endian else ">"
    for section in sections:
        flags = int(section["sh_flags"])
        if section["sh_type"] != "SHT_NOTE" or flags & (_SHF_ALLOC | _SHF_COMPRESSED):
            continue
        data, at = section.data(), 0
        # The sizes of owner and content, and the type. Owner and content are padded to 4 bytes.
        while at + 12 <= len(data):
            owner_bytes, content_bytes, kind = struct.unpack_from(f"{order}3I", data, at)
            content = at + 12 + aligned(owner_bytes, 4)
            if content + content_bytes > len(data):
                break
            owner = data[at + 12 : at + 12 + owner_bytes].rstrip(b"\0").decode("latin-1")
            yield Note(owner, kind, data[content : content + content_bytes])
            at = content + aligned(content_bytes, 4)


def _compilers(file: ELFFile) -> tuple[str, ...]:
    section = file.get_section_by_name(".comment")
    # Each object file has its compiler's text there, and linkers merge equal texts.
    texts = section.data().split(b"\0") if section else []
    return tuple(sorted({text.decode("ascii", "replace") for text in texts if text}))


def _lower(constant: object) -> str:
    return str(constant).split("_", 1)[-1].lower()


def _attributes(file: ELFFile) -> dict[str, str]:
    name = {_EM_ARM: ".ARM.attributes", _EM_RISCV: ".riscv.attributes"}.get(file["e_machine"], "")
    section = file.get_section_by_name(name)
    attributes = {}
    if file["e_machine"] == _EM_RISCV:
        attributes["float ABI"] = _RISCV_FLOAT_ABI[file["e_flags"] & 6]
    if not isinstance(section, (ARMAttributesSection, RISCVAttributesSection)):
        return attributes
    for subsection in section.iter_subsections():
        for part in subsection.iter_subsubsections():
            for attribute in part.iter_attributes():
                if attribute.tag in _ATTRIBUTES:
                    name, values = _ATTRIBUTES[attribute.tag]
                    attributes[name] = values.get(attribute.value, str(attribute.value))
    return attributes
