"""Each rule about the headers of ELF files refuses what it is for, and none a sound file."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from microgen.base.errors import ProjectError
from microgen.verifier.elf import elf, header_rules, headers
from microgen.verifier.elf.header_rules import RULES
from tests.support.tools import NEEDS_ARM_GCC
from tests.tamper.elf32 import (
    PT_NULL,
    PT_TLS,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_TLS,
    SHT_PROGBITS,
    Elf32,
    Record,
)
from tests.tamper.tampers import add, put
from tests.tamper.tiny import tiny

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "verify.md"
Change = Callable[[Elf32], object]


def _byte(at: int, value: int) -> Change:
    return lambda e: e.data.__setitem__(at, value)


def _header(**fields: int) -> Change:
    return lambda e: put(e.header, **fields)


def _segment(number: int, **fields: int) -> Change:
    return lambda e: put(e.segments()[number], **fields)


def _section(which: str, **fields: int) -> Change:
    return lambda e: put(e.section(which), **fields)


def _first(elf32: Elf32) -> Record:
    return elf32.sections()[0]


def _like(elf32: Elf32, name: str, other: str) -> None:
    """Give a section the name and the type of another one."""
    put(elf32.section(name), name=elf32.section(other)["sh_name"])


def _add(which: str, **fields: int) -> Change:
    return lambda e: add(e.section(which), **fields)


# For each rule: changes that only it has to find, or that it has to find, too.
CHANGES: dict[str, list[Change]] = {
    "identification": [
        *(_byte(4, 3), _byte(5, 2), _byte(6, 0), _byte(6, 2), _byte(7, 97), _byte(7, 255)),
        *(_byte(8, 1), _byte(9, 1), _byte(15, 7)),
    ],
    "version": [_header(version=0), _header(version=2)],
    "record_sizes": [
        *(_header(ehsize=64), _header(ehsize=0), _header(phentsize=56), _header(phentsize=0)),
        *(_header(shentsize=64), _header(shentsize=0)),
    ],
    "counts": [
        *(_header(phnum=0xFFFF), _header(phnum=0), _header(shnum=0), _header(shnum=0xFF00)),
        *(_header(shstrndx=0xFFFF), _header(shstrndx=0), _header(shstrndx=6)),
    ],
    "tables": [
        *(_header(phoff=0), _header(phoff=50), _header(phoff=1 << 20), _header(phnum=200)),
        *(_header(shoff=0), _header(shoff=60), _header(shoff=(1 << 32) - 40), _header(shnum=9)),
    ],
    "first_section": [
        *(lambda e: put(_first(e), size=7), lambda e: put(_first(e), link=5)),
        *(lambda e: put(_first(e), info=2), lambda e: put(_first(e), type=SHT_PROGBITS)),
    ],
    "section_names": [
        *(_section(".text", name=1000), _section(".shstrtab", type=SHT_PROGBITS)),
        *(_section(".shstrtab", flags=SHF_ALLOC), _add(".shstrtab", size=4000)),
        *(_add(".shstrtab", size=-1), _add(".shstrtab", offset=1)),
    ],
    "symbols": [
        *(_section(".symtab", entsize=24), _section(".symtab", entsize=0)),
        *(_add(".symtab", size=4), _add(".symtab", size=16 << 12), _section(".symtab", link=0)),
        *(_section(".symtab", link=1), _section(".symtab", link=77), _add(".strtab", size=-1)),
        *(_section(".strtab", type=SHT_PROGBITS), _section(".bss", type=18)),
    ],
    "read_by_name": [
        *(lambda e: _like(e, ".strtab", ".symtab"), lambda e: _like(e, ".symtab", ".text")),
        *(lambda e: _like(e, ".shstrtab", ".strtab"), _section(".bss", type=2)),
        _section(".bss", type=0x70000003),
    ],
    "core": [_header(type=1), _header(type=3), _header(type=0xFE00), _header(machine=62),
             _header(machine=183)],
    "segment_types": [
        *(_segment(0, type=kind) for kind in (2, 3, 5, 8, 0x60000000, 0x6474E550, 0x70000000)),
        _segment(1, type=PT_NULL),
    ],
    "segment_fields": [
        *(_segment(0, flags=13), _segment(0, flags=0x100005), _segment(0, filesz=32)),
        *(_segment(0, memsz=8), _segment(0, offset=1 << 20), _segment(1, memsz=0xF0000000)),
        *(_segment(1, paddr=0xFFFFFFFF), _segment(0, align=3), _segment(0, align=1 << 12)),
    ],
    "load_addresses": [
        lambda e: put(e.segments()[1], filesz=8, paddr=8),
        lambda e: [put(s, paddr=0) for s in e.segments()],
        # Other bytes are loaded where the code runs: run or load addresses overlap.
        lambda e: [put(e.segments()[0], paddr=64), put(e.segments()[1], vaddr=0, filesz=8)],
        lambda e: [put(e.segments()[0], paddr=64), put(e.segments()[1], paddr=8, filesz=8)],
        _segment(0, paddr=8),
        # OpenOCD looks at segments with bytes only.
        lambda e: [put(e.segments()[0], vaddr=64), put(e.section(".text"), addr=64)],
    ],
    "thread_variables": [
        lambda e: [put(e.segments()[0], paddr=64), _add(".text", flags=SHF_TLS)(e)],
        lambda e: [_add(".text", flags=SHF_TLS)(e),
                   e.add_segment(e.segments()[0], type=PT_TLS, paddr=64)],
        lambda e: [_add(".text", flags=SHF_TLS)(e),
                   e.add_segment(e.segments()[0], type=PT_TLS, offset=0)],
    ],
    "section_types": [
        *(_section(".text", type=kind) for kind in (0, 4, 5, 9, 10, 12, 19, 0x60000000)),
        *(_section(".text", type=0x70000001 + n) for n in (1, 3)),
        _section(".bss", type=10),
    ],
    "section_flags": [
        *(_add(".text", flags=bit) for bit in (8, 0x100, 0x800, 0x1000, 0x100000, 1 << 31)),
        _add(".bss", flags=0x800),
    ],
    "code_is_loaded": [
        *(_section(".strtab", flags=SHF_EXECINSTR), _section(".text", flags=SHF_EXECINSTR)),
    ],
    "section_fields": [
        *(_section(".bss", size=0xE0000001), _section(".text", size=1 << 20)),
        _section(".text", offset=1 << 30),
    ],
    "sections_in_segments": [
        *(_section(".text", addr=0x1000), _section(".text", addr=4), _add(".text", offset=4)),
        *(_section(".text", size=32), _segment(0, filesz=8), _section(".bss", type=SHT_PROGBITS)),
        lambda e: put(e.segments()[1], filesz=8),
    ],
    "project_osabi": [_byte(7, 3)],
    "project_segment_types": [_segment(1, type=kind) for kind in (4, 6, 7, 0x70000001)],
    "project_section_types": [_section(".text", type=kind) for kind in (7, 14, 15, 16, 0x70000001)],
    "project_section_flags": [_add(".text", flags=bit) for bit in (0x40, 0x80, 0x400, 1 << 21)],
    "project_names": [lambda e: _like(e, ".bss", ".text"), _section(".bss", name=0)],
    "headers_not_loaded": [
        lambda e: put(e.segments()[0], offset=0, filesz=132, memsz=132),
        lambda e: put(e.segments()[0], offset=e.header["e_shoff"]),
    ],
}  # fmt: skip


def _found(data: bytes) -> dict[str, list[str]]:
    read = headers.read(bytes(data))
    found = {rule.name: list(rule.problems(read)) for rule in RULES}
    return {name: problems for name, problems in found.items() if problems}


def test_a_sound_file_is_accepted(tmp_path: Path) -> None:
    assert _found(tiny()) == {}
    (tmp_path / "a.elf").write_bytes(tiny())
    assert [s.name for s in elf.load(tmp_path / "a.elf").symbols] == ["f", "array"]


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_each_rule_refuses_what_it_is_for(name: str, tmp_path: Path) -> None:
    (rule,) = [rule for rule in RULES if rule.name == name]
    for number, change in enumerate(CHANGES[name]):
        tampered = Elf32(tiny())
        before = bytes(tampered.data)
        change(tampered)
        assert tampered.data != before, number
        found = _found(tampered.data)
        assert name in found, (number, found)
        path = tmp_path / f"{number}.elf"
        path.write_bytes(tampered.data)
        if rule.kind == "any":
            with pytest.raises(ProjectError, match="is refused: "):
                elf.load(path)
        else:
            (first, *_) = header_rules.problems(headers.read(bytes(tampered.data)), rule.kind)
            assert re.fullmatch(r".+: .+", first)


def test_every_rule_has_changes_and_a_line_in_the_document() -> None:
    names = [rule.name for rule in RULES]
    assert list(CHANGES) == names
    documented = re.findall(r"^\| `(\w+)`, (\w+) \|", DOCUMENT.read_text(), re.MULTILINE)
    assert documented == [(rule.name, rule.kind) for rule in RULES]


def test_nothing_is_read_outside_of_the_file() -> None:
    """However short the file is."""
    data = tiny()
    for size in range(4, len(data)):
        assert _found(data[:size])


def test_64_bits_are_for_programs_of_the_host_only() -> None:
    changed = Elf32(tiny())
    changed.data[4] = 2
    assert "core" in _found(changed.data + bytes(64)) or "record_sizes" in _found(changed.data)


@NEEDS_ARM_GCC
@pytest.mark.parametrize("kind", [0, 10, 0x0B00])
def test_objcopy_leaves_sections_of_other_types_out(kind: int, tmp_path: Path) -> None:
    """The reason of the rule ``section_types``, on the tool itself."""
    command = ["arm-none-eabi-objcopy", "-O", "binary", "a.elf", "a.bin"]
    sizes = []
    for changed in (SHT_PROGBITS, kind):
        tampered = Elf32(tiny())
        put(tampered.section(".text"), type=changed)
        (tmp_path / "a.elf").write_bytes(tampered.data)
        (tmp_path / "a.bin").unlink(missing_ok=True)
        subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
        made = tmp_path / "a.bin"
        sizes.append(made.stat().st_size if made.exists() else 0)
    assert sizes[0] == 16
    assert sizes[1] != 16
