"""Checks of the memory plan: the arena and the buffers in it, read from symbols."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any

from microgen.base.formats.c_layout import aligned
from microgen.base.manifest import BufferRecord, Manifest, ModuleRecord, PoolRecord
from microgen.verifier.again import built_from
from microgen.verifier.checks import objects
from microgen.verifier.elf.elf import Symbol
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

# The names of planned buffers in the ELF.
BUFFER_NAME = re.compile(r"(sid|scratch)_\d+|module_pool")


def arena(subject: Subject) -> Finding:
    """Each pool's symbol is one object of the planned size and alignment in the planned section
    (``.bss.noinit.tvm``) and memory, no larger than its declared size.

    Reads: symbols; plan.
    """
    pools = _placed_pools(subject)
    if not pools:
        return not_applicable("the plan has no workspace")
    problems = [p for pool in pools for p in _arena_problems(subject, pool)]
    expected = "; ".join(
        f"{p.symbol}: {p.nbytes} bytes, aligned to {p.alignment}, in "
        f"{objects.section_of(subject, p)}"
        for p in pools
    )
    actual = "; ".join(str(s) for p in pools for s in subject.elf.named(p.symbol))
    return judged(expected, problems, actual, pools=[_values(subject, pool) for pool in pools])


def _values(subject: Subject, pool: PoolRecord) -> dict[str, Any]:
    return {
        "symbol": pool.symbol,
        "planned": pool.nbytes,
        "found": sum(symbol.size for symbol in subject.elf.named(pool.symbol)),
        "alignment": pool.alignment,
    }


def _arena_problems(subject: Subject, pool: PoolRecord) -> Iterator[str]:
    yield from objects.problems(subject, pool, pool.alignment)
    symbol = objects.only(subject, pool)
    if symbol is None:
        return
    if pool.capacity is not None and symbol.size > pool.capacity:
        yield f"{pool.symbol} has {symbol.size} bytes, but the pool was given {pool.capacity}"
    yield from objects.memory_problems(subject, pool, symbol)


def sids(subject: Subject) -> Finding:
    """Each ``sid_<n>`` and ``scratch_<n>`` exists once under the file symbol ``<m>_memory.S``:
    a local object at arena + offset, of its exact size and alignment, in the pool's section; no
    other symbol is called ``sid_<n>``, wherever it is, and none in the pools' sections has a
    buffer's name. After ``strip -g``, which removes the files' names, buffers are told by their
    places. Buffers in a pool that the caller passes have no symbol.

    Reads: symbols; plan.
    """
    symbols = _buffer_symbols(subject)
    problems: list[str] = []
    for record in _placed_buffers(subject):
        problems += _buffer_problems(subject, record, symbols.pop(record.name, []))
    problems += [f"{name} is not in the plan" for name in symbols]
    problems += [f"{symbol} is in no model's plan" for symbol in _strays(subject)]
    count = len(_placed_buffers(subject))
    expected = (
        f"{count} local objects, each once{_under(subject)}, at its planned address and of its "
        f"size, aligned as its pool is"
    )
    return judged(expected, problems, f"{count} as planned", buffers=count)


def _buffer_problems(
    subject: Subject, record: BufferRecord, symbols: list[Symbol]
) -> Iterator[str]:
    if len(symbols) != 1:
        yield f"{len(symbols)} symbols are named {record.name}{_under(subject)}"
        return
    (symbol,), pool = symbols, _pool_of(subject, record)
    arenas = subject.elf.named(pool.symbol)
    planned = arenas[0].address + record.offset if arenas else None
    if (symbol.kind, symbol.binding) != ("object", "local"):
        yield f"{record.name} is a {symbol.binding} {symbol.kind}"
    if planned is not None and symbol.address != planned:
        yield f"{record.name} is at {symbol.address:#x}, planned {planned:#x}"
    if symbol.size != record.nbytes:
        yield f"{record.name} has {symbol.size} bytes, planned {record.nbytes}"
    if symbol.address % pool.alignment:
        yield f"{record.name} at {symbol.address:#x} is not aligned"
    section = objects.section_of(subject, pool)
    if symbol.section != section:
        yield f"{record.name} is in {symbol.section or 'no section'}, not {section}"


@dataclass(frozen=True, slots=True)
class _Life:
    """A buffer's lifetime in half steps, both ends included: in the plan, and from the calls that
    name the buffer."""

    planned: tuple[int, int]
    called: tuple[int, int]


def sid_overlap(subject: Subject) -> Finding:
    """Buffers that share addresses are never live at the same time, except recorded in-place
    pairs at one address; in a pool that the caller passes, offsets are used as addresses.

    Lifetimes are from the first to the last call that names the buffer. State is live during
    all calls. A recorded in-place pair may meet in its call, if the output begins as much
    before the input as is recorded, rounded up to the alignment. For each buffer, only the
    first overlap is reported.

    Reads: addresses and sizes of symbols; lifetimes of the plan, and again those that follow from
    the calls.
    """
    lives = _lives(subject)
    buffers = {name: extent for name, extent in _extents(subject).items() if name in lives}
    if not buffers:
        return not_applicable("the ELF has no buffer to compare, see sids")
    # An in-place pair may meet in the call that reads one and writes the other.
    lags = _lags(subject.manifest)

    def takes_place(source: str, target: str) -> bool:
        before = buffers[source].start - buffers[target].start
        return lags.get((source, target)) == before and _hand_over(lives[source], lives[target])

    def excused(a: str, b: str) -> bool:
        return takes_place(a, b) or takes_place(b, a)

    problems = [
        f"{a} and {b} are live at once and overlap in memory"
        for spans in ({n: lives[n].planned for n in buffers}, {n: lives[n].called for n in buffers})
        for a, b in _overlaps(buffers, spans, excused)
    ]
    expected = "buffers that share addresses have disjoint lifetimes"
    actual = f"{len(buffers)} buffers; none overlaps another while both are live"
    return judged(expected, list(dict.fromkeys(problems)), actual, buffers=len(buffers))


def _lags(record: ModuleRecord) -> dict[tuple[str, str], int]:
    """The number of bytes by which the output of each recorded in-place pair begins before its
    input."""
    units = {pool.name: pool.alignment for pool in record.plan.pools}
    pools = {buffer.name: units.get(buffer.pool, 1) for buffer in record.plan.buffers}
    return {
        (pair.input, pair.output): aligned(pair.lag, pools.get(pair.input, 1))
        for pair in record.plan.in_place
    }


def _overlaps(
    buffers: Mapping[str, _Extent],
    spans: Mapping[str, tuple[int, int]],
    excused: Callable[[str, str], bool],
) -> Iterator[tuple[str, str]]:
    """Each buffer that overlaps a live buffer when its own lifetime begins, with the first such
    buffer, in the order of time."""
    live: dict[str, list[tuple[int, int, str]]] = {e.space: [] for e in buffers.values()}
    births = [(spans[name][0], True, name) for name in buffers]
    deaths = [(spans[name][1] + 1, False, name) for name in buffers]
    # At one time, ends come first: False sorts before True.
    for _, is_born, name in sorted((*births, *deaths)):
        extent = buffers[name]
        there, own = live[extent.space], (extent.start, extent.end, name)
        # Live buffers are kept in the order of addresses. Overlapping buffers are left out. So they
        # are disjoint, except for allowed pairs. Only two buffers can reach into a new one: the
        # nearest buffer below it, and the buffer that is paired with it, which is next to it.
        place = bisect_left(there, own)
        met = [other for other in _near(there, place, extent) if not excused(other, name)]
        if is_born and met:
            yield min(met[0], name), max(met[0], name)
        elif is_born and extent.start < extent.end:
            there.insert(place, own)
        elif there[place : place + 1] == [own]:
            del there[place]


def _near(there: Sequence[tuple[int, int, str]], place: int, extent: _Extent) -> Iterator[str]:
    """The buffers that overlap the extent at index ``place`` of the extents, which are sorted by
    address."""
    nearest = {start for start, _, _ in there[max(0, place - 2) : place]}
    below = takewhile(lambda i: there[i][0] in nearest, reversed(range(place)))
    above = takewhile(lambda i: there[i][0] < extent.end, range(place, len(there)))
    for i in (*below, *above):
        start, end, name = there[i]
        if start < extent.end and extent.start < end:
            yield name


def _lives(subject: Subject) -> dict[str, _Life]:
    used: dict[str, list[int]] = {}
    for call in subject.manifest.calls:
        for argument in call.args:
            if argument.storage in ("sid", "scratch"):
                used.setdefault(argument.name, []).append(call.index)
    lives = {}
    for record in subject.manifest.plan.buffers:
        planned = (record.first, record.last)
        steps = used.get(record.name)
        # In half steps, because each call takes two. A buffer that no call names is live as
        # planned.
        called = (2 * min(steps), 2 * max(steps) + 1) if steps else planned
        if record.is_state:
            called = (0, 2 * len(subject.manifest.calls) + 1)
        lives[record.name] = _Life(planned, called)
    return lives


def _hand_over(a: _Life, b: _Life) -> bool:
    """Whether one lifetime ends in the call in which the other begins."""
    first, second = sorted((a.called, b.called))
    return not _meet(a.planned, b.planned) and first[1] == second[0] + 1


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


@dataclass(frozen=True, slots=True)
class _Extent:
    """Bytes from ``start`` to ``end`` of a passed pool, or, for "", of the address space."""

    space: str
    start: int
    end: int


def _extents(subject: Subject) -> dict[str, _Extent]:
    """The place of each buffer, from its symbol, or from the manifest if it has none."""
    passed = {pool.name for pool in subject.manifest.plan.pools if not pool.symbol}
    extents = {
        b.name: _Extent(b.pool, b.offset, b.offset + b.nbytes)
        for b in subject.manifest.plan.buffers
        if b.pool in passed
    }
    for name, symbols in _buffer_symbols(subject).items():
        extents[name] = _Extent("", symbols[0].address, symbols[0].end)
    return extents


def _memory_file(module: str) -> str:
    """The STT_FILE symbol of a module's generated assembler file."""
    return f"{module}_memory.S"


def _under(subject: Subject) -> str:
    """The file under which the ELF lists a model's buffers, as words; "" if the ELF names no
    files."""
    return f" under {_memory_file(subject.manifest.module)}" if subject.elf.names_files else ""


def _buffer_symbols(subject: Subject) -> dict[str, list[Symbol]]:
    record, names_files = subject.manifest, subject.elf.names_files
    # ``strip -g`` removes the files' names, so only places tell buffers of several models apart.
    if record.more and not names_files:
        return _in_places(subject)
    by_name: dict[str, list[Symbol]] = {}
    for symbol in subject.elf.symbols:
        is_listed = not names_files or PurePosixPath(symbol.file).name == _memory_file(
            record.module
        )
        if is_listed and BUFFER_NAME.fullmatch(symbol.name):
            by_name.setdefault(symbol.name, []).append(symbol)
    return by_name


def _in_places(subject: Subject) -> dict[str, list[Symbol]]:
    """A model's buffers by their places. If several models plan equal symbols, and the ELF has as
    many of them, each model gets one."""
    modules = subject.manifest.modules
    there = Counter(subject.elf.symbols)
    planned = Counter(place for module in modules for place in _places(subject, module))
    by_name = {}
    for place in _places(subject, subject.manifest):
        count = 1 if there[place] == planned[place] else there[place]
        if count:
            by_name[place.name] = [place] * count
    return by_name


def _places(subject: Subject, module: ModuleRecord) -> Iterator[Symbol]:
    """The symbols that a model's buffers have to be, without their files."""
    arenas = {p.name: (p, s) for p in module.plan.pools for s in subject.elf.named(p.symbol)}
    for buffer in module.plan.buffers:
        if buffer.pool in arenas:
            pool, arena = arenas[buffer.pool]
            address = arena.address + buffer.offset
            yield Symbol(buffer.name, address, buffer.nbytes, "object", "local", pool.section, "")


def _strays(subject: Subject) -> list[Symbol]:
    """Symbols with a buffer's name that belong to no model, neither of the project nor of another
    project in the ELF."""
    modules = subject.manifest.modules
    names = [module.module for module in modules]
    named = [symbol for symbol in subject.elf.symbols if is_buffer(subject.manifest, symbol)]
    if subject.elf.names_files:
        files = {_memory_file(name) for name in (*names, *built_from.others(subject))}
        return [s for s in named if PurePosixPath(s.file).name not in files]
    places = {place for module in modules for place in _places(subject, module)}
    return [s for s in named if s not in places] if subject.manifest.more else []


def is_buffer(record: Manifest, symbol: Symbol) -> bool:
    """Whether only a planned buffer may have this symbol. A program may use a name like
    ``scratch_0`` outside of the pools' sections."""
    pools = {pool.section for module in record.modules for pool in module.plan.pools}
    is_ours = symbol.name.startswith("sid_") or symbol.section in pools
    return is_ours and BUFFER_NAME.fullmatch(symbol.name) is not None


def _placed_pools(subject: Subject) -> list[PoolRecord]:
    """The pools that have an address in the ELF. A pool that the caller owns has no symbol."""
    return [pool for pool in subject.manifest.plan.pools if pool.symbol and pool.nbytes]


def _placed_buffers(subject: Subject) -> list[BufferRecord]:
    placed = {pool.name for pool in _placed_pools(subject)}
    return [buffer for buffer in subject.manifest.plan.buffers if buffer.pool in placed]


def _pool_of(subject: Subject, record: BufferRecord) -> PoolRecord:
    return next(p for p in subject.manifest.plan.pools if p.name == record.pool)
