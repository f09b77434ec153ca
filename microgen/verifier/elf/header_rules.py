"""The rules for headers of ELF files. They accept headers that all known loaders read alike.

A file may mean one program to pyelftools, which reads it for ``verify``, and another to QEMU,
objcopy, OpenOCD or a debugger. Each rule refuses a form in which they differ, or one that it does
not know. ``docs/reference/verify.md`` has the same table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple

from microgen.verifier.elf.headers import (
    FORMS,
    PT_LOAD,
    SHF_EXECINSTR,
    SHF_TLS,
    SHT_NOBITS,
    SHT_NOTE,
    SHT_PROGBITS,
    SHT_STRTAB,
    SHT_SYMTAB,
    Headers,
    ProgramHeader,
    SectionHeader,
    text,
)

# "any": all files that are read keep the rule. "firmware": all firmware of a board keeps it, no
# matter who linked it. "project": the project's own linker script keeps it.
Kind = Literal["any", "firmware", "project"]


class Rule(NamedTuple):
    """A rule: its name, its kind of files, the search for problems, and the end of its messages."""

    name: str
    kind: Kind
    problems: Callable[[Headers], Iterator[str]]
    why: str


_LEAST_RESERVED = 0xFF00  # the first number of a section that means something else
_ET_EXEC = 2
_CORES = {40: "Arm", 243: "RISC-V"}
_OSABIS = {0: "System V", 3: "GNU"}
_MOST_FLAGS = 7  # readable, writable, executable

# Segments that loaders pass over: a note, the headers' own place, the initial values of threads'
# variables, which are in a loaded segment too, and data for GNU's loader and Arm's unwinder.
_PT_NOTE, _PT_PHDR, _PT_TLS, _PT_GNU_STACK, _PT_GNU_RELRO = 4, 6, 7, 0x6474E551, 0x6474E552
_PT_ARM_EXIDX, _PT_RISCV_ATTRIBUTES = 0x70000001, 0x70000003
_OUR_SEGMENTS = (PT_LOAD, _PT_GNU_STACK, _PT_RISCV_ATTRIBUTES)
_FIRMWARE_SEGMENTS = (*(_PT_NOTE, _PT_PHDR, _PT_TLS, _PT_GNU_RELRO, _PT_ARM_EXIDX), *_OUR_SEGMENTS)

# Loaded sections: with bytes, without, notes, tables of functions to call before and after main,
# Arm's unwinding tables. objcopy knows all of these as content.
_OUR_SECTIONS = (SHT_PROGBITS, SHT_NOBITS)
_FIRMWARE_SECTIONS = (*_OUR_SECTIONS, SHT_NOTE, 14, 15, 16, 0x70000001)
# Write, alloc, execute, merge, strings; number of a section, link order, group, threads, Arm's code
# that is not read, GNU's "keep this" (which lld does not remove).
_OUR_FLAGS = 0x37
_FIRMWARE_FLAGS = _OUR_FLAGS | 0x40 | 0x80 | 0x200 | SHF_TLS | 0x20000000 | 0x200000

# Sections that some programs find by their type and others by their name.
_BY_TYPE = {SHT_SYMTAB: (".symtab",), 0x70000003: (".ARM.attributes", ".riscv.attributes")}
_BY_NAME = (".strtab", ".shstrtab", ".comment", ".GCC.command.line", ".note.microgen", ".debug_")


def _is_known(name: str) -> bool:
    return name.startswith(_BY_NAME) or any(name in names for names in _BY_TYPE.values())


# Fields on which any readers have to agree.
def _identification(elf: Headers) -> Iterator[str]:
    expected = {"EI_CLASS": (4, FORMS), "EI_DATA": (5, (1,)), "EI_VERSION": (6, (1,))}
    expected |= {"EI_OSABI": (7, _OSABIS), "EI_ABIVERSION": (8, (0,))}
    for name, (at, values) in expected.items():
        if elf.ident[at] not in values:
            yield f"{name} is {elf.ident[at]}, expected {_either(values)}"
    if any(elf.ident[9:]):
        yield "the padding of the identification is not zero"


def _version(elf: Headers) -> Iterator[str]:
    if elf.file.version != 1:
        yield f"e_version is {elf.file.version}, expected 1"


def _record_sizes(elf: Headers) -> Iterator[str]:
    file, form = elf.file, elf.form
    for name, actual, size in (
        ("e_ehsize", file.nbytes, form.header_nbytes),
        ("e_phentsize", file.segment_nbytes, form.segment_nbytes),
        ("e_shentsize", file.section_nbytes, form.section_nbytes),
    ):
        if actual != size:
            yield f"{name} is {actual}, expected {size}"


def _counts(elf: Headers) -> Iterator[str]:
    file = elf.file
    # PN_XNUM (0xffff) and section numbers from 0xff00 on mean that the count is in section header
    # 0.
    if not 1 <= file.segment_count < 0xFFFF:
        yield f"e_phnum is {file.segment_count:#x}, expected 1 to 0xfffe"
    if not 2 <= file.section_count < _LEAST_RESERVED:
        yield f"e_shnum is {file.section_count:#x}, expected 2 to 0xfeff"
    if not 0 < file.names_section < min(max(file.section_count, 1), _LEAST_RESERVED):
        yield f"e_shstrndx is {file.names_section:#x}, expected the number of a section"


def _tables(elf: Headers) -> Iterator[str]:
    file, form = elf.file, elf.form
    places = [(0, form.header_nbytes, "the ELF header")]
    for start, count, size, name in (
        (file.segments_at, file.segment_count, form.segment_nbytes, "the program headers"),
        (file.sections_at, file.section_count, form.section_nbytes, "the section headers"),
    ):
        places.append((start, start + count * size, name))
        if start + count * size > len(elf.data):
            yield f"{name} end past the end of the file"
    for (_, end, one), (start, _, other) in pairwise(sorted(places)):
        if start < end:
            yield f"{one} and {other} overlap in the file"


def _first_section(elf: Headers) -> Iterator[str]:
    if elf.sections and any(elf.sections[0]):
        yield "the section header 0 is not empty"


def _section_names(elf: Headers) -> Iterator[str]:
    if not 0 < elf.file.names_section < len(elf.sections):
        return
    yield from _string_table(elf, elf.file.names_section, "the table of sections' names")
    if None in elf.names:
        yield f"the name of section {elf.names.index(None)} has no end"


def _symbols(elf: Headers) -> Iterator[str]:
    for name, section in elf.named():
        if section.kind == 18:  # SHT_SYMTAB_SHNDX
            yield f"{name} has further bits of symbols' sections"
        if section.kind != SHT_SYMTAB:
            continue
        if section.record_nbytes != elf.form.symbol_nbytes or section.size % section.record_nbytes:
            yield f"{name} has records of {section.record_nbytes} bytes, not of the usual size"
        if section.offset + section.size > len(elf.data):
            yield f"{name} ends past the end of the file"
        yield from _string_table(elf, section.link, "the table of symbols' names")


def _string_table(elf: Headers, number: int, title: str) -> Iterator[str]:
    if not 0 < number < len(elf.sections):
        yield f"{title} is section {number}, which does not exist"
        return
    section = elf.sections[number]
    texts = elf.data[section.offset : section.offset + section.size]
    if section.kind != SHT_STRTAB or section.is_loaded:
        yield f"{title} is of another type, or is loaded"
    elif len(texts) < section.size or text(texts, 0) != "" or texts[-1:] != b"\0":
        yield f"{title} does not begin and end with a zero inside the file"


def _read_by_name(elf: Headers) -> Iterator[str]:
    names = Counter(name for name in elf.names if name and _is_known(name))
    yield from (f"{name} is there {count} times" for name, count in names.items() if count > 1)
    for name, section in elf.named():
        usual = _BY_TYPE.get(section.kind)
        if usual and name not in usual:
            yield f"{name} has the type of {usual[0]}"
    if [section.kind for section in elf.sections].count(SHT_SYMTAB) > 1:
        yield "there are two symbol tables"


# Fields on which all loaders of a board's firmware have to agree.
def _core(elf: Headers) -> Iterator[str]:
    file = elf.file
    if file.kind != _ET_EXEC:
        yield f"e_type is {file.kind}, expected {_ET_EXEC}, an executable with fixed addresses"
    if elf.form is not FORMS[1] or file.machine not in _CORES:
        yield f"e_machine is {file.machine}, expected 32-bit {_either(_CORES)}"


def _segment_types(elf: Headers, known: tuple[int, ...]) -> Iterator[str]:
    for number, segment in enumerate(elf.segments):
        if segment.kind not in known:
            yield f"program header {number} is of the type {segment.kind:#x}"


def _segment_fields(elf: Headers) -> Iterator[str]:
    for segment in elf.loaded:
        if segment.flags > _MOST_FLAGS:
            yield f"{segment} has the flags {segment.flags:#x}"
        if segment.file_size > segment.size:
            yield f"{segment} has {segment.file_size} bytes in the file, {segment.size} in memory"
        if segment.offset + segment.file_size > len(elf.data):
            yield f"{segment} ends past the end of the file"
        if max(segment.address, segment.load) + segment.size > elf.form.limit:
            yield f"{segment} ends past the last address"
        yield from _alignment(segment)


def _alignment(segment: ProgramHeader) -> Iterator[str]:
    alignment = segment.alignment
    if alignment & (alignment - 1):
        yield f"{segment} is aligned to {alignment}, which is no power of 2"
    elif segment.file_size and alignment and (segment.address - segment.offset) % alignment:
        yield f"{segment} is at {segment.offset:#x} in the file, against its alignment"


def _load_addresses(elf: Headers) -> Iterator[str]:
    with_bytes = [s for s in elf.loaded if s.file_size]
    # ``verify`` reads the bytes at one place, and loaders put them there or at a second place.
    places = sorted((at, s) for s in with_bytes for at in {s.address, s.load})
    for (start, one), (other_start, other) in pairwise(places):
        if other_start < start + one.file_size:
            yield f"{one} and {other} overlap where they run or are loaded, at {other_start:#x}"
    for known in (with_bytes, elf.loaded if len(elf.loaded) > 1 else []):
        if any(s.address for s in known) and not any(s.load for s in known):
            yield "all segments are loaded at 0"
            return


def _thread_variables(elf: Headers) -> Iterator[str]:
    for name, section in elf.named():
        if not (section.is_loaded and section.has_bytes and section.flags & SHF_TLS):
            continue
        places = _load_addresses_of(elf, section, _PT_TLS) or {section.address}
        if places != _load_addresses_of(elf, section, PT_LOAD):
            yield f"{name} has another load address in the segment of threads' variables"


def _load_addresses_of(elf: Headers, section: SectionHeader, kind: int) -> set[int]:
    """The section's load addresses as objcopy computes them: for each segment of that kind around
    the section, from the places of both in the file."""
    start, end = section.address, section.address + section.size
    around = (s for s in elf.segments if s.address <= start <= end <= s.address + s.size)
    return {s.load + section.offset - s.offset for s in around if s.kind == kind}


def _section_types(elf: Headers, known: tuple[int, ...]) -> Iterator[str]:
    for name, section in elf.named():
        if section.is_loaded and section.kind not in known:
            yield f"{name} is loaded and of the type {section.kind:#x}"


def _section_flags(elf: Headers, known: int) -> Iterator[str]:
    for name, section in elf.named():
        if section.is_loaded and section.flags & ~known:
            yield f"{name} is loaded and has the flags {section.flags:#x}"


def _code_is_loaded(elf: Headers) -> Iterator[str]:
    for name, section in elf.named():
        if section.flags & SHF_EXECINSTR and not section.is_loaded:
            yield f"{name} has code and is not loaded"


def _section_fields(elf: Headers) -> Iterator[str]:
    for name, section in elf.named():
        if not section.is_loaded:
            continue
        if section.address + section.size > elf.form.limit:
            yield f"{name} ends past the last address"
        if section.has_bytes and section.offset + section.size > len(elf.data):
            yield f"{name} ends past the end of the file"


def _sections_in_segments(elf: Headers) -> Iterator[str]:
    for name, section in elf.named():
        if not (section.is_loaded and section.size):
            continue
        end = section.address + section.size
        around = [
            (s, s.offset + section.address - s.address)  # its place in the file
            for s in elf.loaded
            if s.address <= section.address <= end <= s.address + s.size
        ]
        if not section.has_bytes:
            if any(any(_bytes(elf, s, start, section.size)) for s, start in around):
                yield f"{name} has no bytes, and its segment has some at {section.address:#x}"
        elif not around:
            yield f"{name} is in no segment"
        elif section.offset not in [start for _, start in around]:
            yield f"{name} has other bytes in its segment than at its own place in the file"
        elif all(len(_bytes(elf, s, start, section.size)) < section.size for s, start in around):
            yield f"{name} ends past the bytes of its segment"


def _bytes(elf: Headers, segment: ProgramHeader, start: int, size: int) -> bytes:
    """The bytes of a segment that begin at a place in the file."""
    return elf.data[start : min(start + size, segment.offset + segment.file_size)]


# The form that the project's own linker script makes.
def _project_osabi(elf: Headers) -> Iterator[str]:
    if elf.ident[7]:
        yield f"EI_OSABI is {elf.ident[7]}, expected 0"


def _project_names(elf: Headers) -> Iterator[str]:
    names = Counter(elf.names)
    yield from (f"{name} is there twice" for name, count in names.items() if count > 1)


def _headers_not_loaded(elf: Headers) -> Iterator[str]:
    file, form = elf.file, elf.form
    for start, nbytes, name in (
        (0, form.header_nbytes, "the ELF header"),
        (file.segments_at, file.segment_count * form.segment_nbytes, "program headers"),
        (file.sections_at, file.section_count * form.section_nbytes, "section headers"),
    ):
        for segment in filter(lambda own: own.file_size, elf.loaded):
            if segment.offset < start + nbytes and start < segment.offset + segment.file_size:
                yield f"{segment} has the bytes of {name}"


def _either(values: object) -> str:
    return " or ".join(map(str, values))  # type: ignore[call-overload]


_RAW = "a loader that does not know it loads the file's bytes as they are"
_OTHER_COUNTS = "the number is elsewhere then, and QEMU does not look there"
_FIXED = "some readers use the size, others the usual one"
_FILE = "readers differ in what they do with a part of a file that is not there, or is two things"
_FOUND = "readers find it by its type, its name, or the first or the last one"
_PASSED = "loaders differ in whether they load it"
_IGNORED = "objcopy leaves such bytes out, and other loaders do not"
_ADDRESSES = "one of them wins, or objcopy and OpenOCD take other addresses"
_THREADS = "objcopy takes it, and QEMU, OpenOCD and debuggers that of the loaded segment"
_READ = "objdump reads it instead of what is loaded at that address"
_PLACES = "objcopy loads sections, and QEMU, OpenOCD and debuggers load segments"
_OURS = "the project's linker script makes no such thing"

RULES: tuple[Rule, ...] = (
    Rule("identification", "any", _identification, _RAW),
    Rule("version", "any", _version, _RAW),
    Rule("record_sizes", "any", _record_sizes, _FIXED),
    Rule("counts", "any", _counts, _OTHER_COUNTS),
    Rule("tables", "any", _tables, _FILE),
    Rule("first_section", "any", _first_section, _OTHER_COUNTS),
    Rule("section_names", "any", _section_names, _FILE),
    Rule("symbols", "any", _symbols, _FILE),
    Rule("read_by_name", "any", _read_by_name, _FOUND),
    Rule("core", "firmware", _core, _RAW),
    Rule("segment_types", "firmware", partial(_segment_types, known=_FIRMWARE_SEGMENTS), _PASSED),
    Rule("segment_fields", "firmware", _segment_fields, _FILE),
    Rule("load_addresses", "firmware", _load_addresses, _ADDRESSES),
    Rule("thread_variables", "firmware", _thread_variables, _THREADS),
    Rule("section_types", "firmware", partial(_section_types, known=_FIRMWARE_SECTIONS), _IGNORED),
    Rule("section_flags", "firmware", partial(_section_flags, known=_FIRMWARE_FLAGS), _IGNORED),
    Rule("code_is_loaded", "firmware", _code_is_loaded, _READ),
    Rule("section_fields", "firmware", _section_fields, _FILE),
    Rule("sections_in_segments", "firmware", _sections_in_segments, _PLACES),
    Rule("project_osabi", "project", _project_osabi, _OURS),
    Rule("project_segment_types", "project", partial(_segment_types, known=_OUR_SEGMENTS), _OURS),
    Rule("project_section_types", "project", partial(_section_types, known=_OUR_SECTIONS), _OURS),
    Rule("project_section_flags", "project", partial(_section_flags, known=_OUR_FLAGS), _OURS),
    Rule("project_names", "project", _project_names, _FOUND),
    Rule("headers_not_loaded", "project", _headers_not_loaded, _OURS),
)


def problems(elf: Headers, *kinds: Kind) -> Iterator[str]:
    """The problems that the rules of these kinds find, each with the reason for refusing it."""
    for rule in RULES:
        if rule.kind in kinds:
            yield from (f"{problem}: {rule.why}" for problem in rule.problems(elf))
