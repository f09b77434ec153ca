"""Checks that the sections of the models contain the planned objects and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from microgen.base.manifest import Manifest, ModuleRecord
from microgen.verifier.checks.memory import is_buffer
from microgen.verifier.elf.elf import Elf, Section, Symbol
from microgen.verifier.subject import Subject

_LEAST_ALIGNMENT = 16  # of the model's sections in linker scripts
_MERGED = "_MergedGlobals"  # clang's name of an object that it makes of several


def problems(subject: Subject) -> Iterator[str]:
    """Problems: objects that overlap, objects that are not planned, and bytes that belong to no
    object."""
    elf, record = subject.elf, subject.manifest
    members, planned = _members(elf, record), _planned(record)
    yield from _overlaps(elf, members)
    for name in sorted(sections(record)):
        same_name = [section for section in elf.sections if section.name == name]
        for section in same_name:
            objects = [s for s in elf.symbols if s.section == name and s.kind == "object"]
            known = [s for s in objects if s.name in planned or s in members]
            yield from _kind_problems(section)
            yield from (f"{s} is not planned" for s in objects if s not in known)
            yield from _gaps(section, known, _alignment(record))
        if not same_name and any(s.section == name for s in elf.symbols):
            yield f"{name} takes no memory"


def sections(record: Manifest) -> set[str]:
    """The sections of the objects that the manifest plans."""
    names = {record.shared_workspace.section} if record.shared_workspace else set()
    for module in record.modules:
        names |= {constant.section for constant in module.constants if constant.symbol}
        names |= {pool.section for pool in module.plan.pools if pool.symbol}
        names |= {module.blob.section} if module.blob else set()
    return names


def _planned(record: Manifest) -> set[str]:
    """The names of the objects in these sections, without planned buffers."""
    names = {record.shared_workspace.symbol} if record.shared_workspace else set()
    for module in record.modules:
        names |= {constant.symbol for constant in module.constants}
        names |= {pool.symbol for pool in module.plan.pools}
        names |= {record.seen_from(module).pool_array(p) for p in _passed(module)}
        names |= {module.blob.symbol} if module.blob else set()
        names |= {f"{module.prefix}_graph_json", _container(module)}
    return names


def _passed(module: ModuleRecord) -> set[str]:
    """The pools that the caller passes, which main defines."""
    return {constant.pool for constant in module.constants} | {p.name for p in module.plan.pools}


def _container(module: ModuleRecord) -> str:
    """The object that contains the constants of the graph executor."""
    return f"{module.prefix}_graph_params"


def _alignment(record: Manifest) -> int:
    """The largest alignment of a planned object; gaps in the sections are shorter."""
    asked = [module.options.get("constant_alignment") for module in record.modules]
    alignments = [pool.alignment for module in record.modules for pool in module.plan.pools]
    largest = max(_LEAST_ALIGNMENT, *alignments, *(n for n in asked if isinstance(n, int)))
    has_graph = any(module.options.get("executor") == "graph" for module in record.modules)
    # The graph executor's parameter file has another gap in front, so that the arrays inside it are
    # aligned.
    return 2 * largest if has_graph else largest


def _kind_problems(section: Section) -> Iterator[str]:
    wanted = "nobits" if section.writable else "progbits"
    if section.kind != wanted:
        yield f"{section.name} is of type {section.kind}, not {wanted}"
    if section.executable:
        yield f"{section.name} is executable"


def _gaps(section: Section, known: list[Symbol], alignment: int) -> Iterator[str]:
    """Gaps of the section between its objects that are longer than alignment needs."""
    end = section.address
    for symbol in sorted(known, key=lambda s: s.address):
        if symbol.address - end >= alignment:
            yield f"{section.name} has bytes of no object from {end:#x} to {symbol.address:#x}"
        end = max(end, symbol.end)
    if section.end - end >= alignment:
        yield f"{section.name} has bytes of no object from {end:#x} to {section.end:#x}"


def _overlaps(elf: Elf, members: set[Symbol]) -> Iterator[str]:
    """Objects that overlap, except aliases, and objects that are planned inside another one."""
    # clang's merged object has the addresses of the objects in it, which are compared.
    objects = [s for s in elf.symbols if s.kind == "object" and s.size and _MERGED not in s.name]
    apart = sorted((s for s in objects if s not in members), key=lambda s: (s.address, s.size))
    last: Symbol | None = None
    # Aliases have one address and size, so only the first of each group is compared.
    for _, aliases in groupby(apart, key=lambda s: (s.address, s.size)):
        symbol = next(aliases)
        if last and symbol.address < last.end:
            yield f"{last.name} and {symbol.name} overlap at {symbol.address:#x}"
        last = symbol if last is None or symbol.end > last.end else last


def _members(elf: Elf, record: Manifest) -> set[Symbol]:
    """The symbols that may be inside another object: arenas in the shared workspace, constants of a
    graph executor in its parameter file, and buffers, which are the subject of ``sids``."""
    homes: dict[str, list[str]] = {}
    common = record.shared_workspace
    for module in record.modules:
        for constant in module.constants:
            homes.setdefault(constant.symbol, []).append(_container(module))
        for pool in module.plan.pools:
            if common and module.module in common.modules:
                homes.setdefault(pool.symbol, []).append(common.symbol)
    wanted = {name for names in homes.values() for name in names if name}
    places = {s.name: s for s in elf.symbols if s.name in wanted and s.kind == "object"}
    names = {buffer.name for module in record.modules for buffer in module.plan.buffers}
    buffers = {s for s in elf.symbols if s.name in names or is_buffer(record, s)}
    return buffers | {
        s
        for s in elf.symbols
        for place in map(places.get, homes.get(s.name, ()))
        if place and place.address <= s.address and s.end <= place.end
    }
