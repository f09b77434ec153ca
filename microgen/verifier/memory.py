"""Checks of the memory plan: the arena and the buffers in it, read from symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePosixPath
from typing import Any

from microgen.manifest import BufferRecord, PoolRecord
from microgen.verifier.elf import Symbol
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_BUFFER_NAME = re.compile(r"(sid|scratch)_\d+|module_pool")


def arena(subject: Subject) -> Finding:
    """Each pool's arena: one object of the plan's size and alignment in the pool's section."""
    pools = _placed_pools(subject)
    if not pools:
        return not_applicable("the plan has no workspace")
    problems = [p for pool in pools for p in _arena_problems(subject, pool)]
    expected = "; ".join(
        f"{p.symbol}: {p.nbytes} bytes, aligned to {p.alignment}, in {p.section}" for p in pools
    )
    found = "; ".join(str(s) for p in pools for s in subject.elf.named(p.symbol))
    return judged(expected, problems, found, pools=[_values(subject, pool) for pool in pools])


def _values(subject: Subject, pool: PoolRecord) -> dict[str, Any]:
    return {
        "symbol": pool.symbol,
        "planned": pool.nbytes,
        "found": sum(symbol.size for symbol in subject.elf.named(pool.symbol)),
        "alignment": pool.alignment,
    }


def _arena_problems(subject: Subject, pool: PoolRecord) -> Iterator[str]:
    symbols = subject.elf.named(pool.symbol)
    if len(symbols) != 1:
        yield f"{len(symbols)} symbols {pool.symbol}"
        return
    (symbol,) = symbols
    if symbol.kind != "object":
        yield f"{pool.symbol} is of type {symbol.kind}"
    if symbol.size != pool.nbytes:
        yield f"{pool.symbol} has {symbol.size} bytes, planned {pool.nbytes}"
    if symbol.address % pool.alignment:
        yield f"{pool.symbol} at {symbol.address:#x} is not aligned to {pool.alignment}"
    if symbol.section != pool.section:
        yield f"{pool.symbol} is in {symbol.section or 'no section'}, not {pool.section}"
    if pool.capacity is not None and symbol.size > pool.capacity:
        yield f"{pool.symbol} has {symbol.size} bytes, {pool.capacity} were given"
    if not subject.board.is_host:
        memory = subject.board.memory(pool.memory or subject.board.arena)
        if not memory.origin <= symbol.address <= symbol.end <= memory.origin + memory.length:
            yield f"{pool.symbol} at {symbol.address:#x} is not in {memory.name}"


def sids(subject: Subject) -> Finding:
    """Each planned buffer: one local object at arena + offset, of its exact size. Those in a pool
    that the caller passes have no symbol."""
    symbols = _buffer_symbols(subject)
    problems: list[str] = []
    for record in _placed_buffers(subject):
        problems += _buffer_problems(subject, record, symbols.pop(record.name, []))
    problems += [f"{name} is not in the plan" for name in symbols]
    count = len(_placed_buffers(subject))
    expected = (
        f"{count} local objects, each once under {_memory_file(subject)}, at its planned address "
        f"and of its size, aligned as its pool is"
    )
    return judged(expected, problems, f"{count} as planned", buffers=count)


def _buffer_problems(
    subject: Subject, record: BufferRecord, symbols: list[Symbol]
) -> Iterator[str]:
    if len(symbols) != 1:
        yield f"{len(symbols)} symbols {record.name} under {_memory_file(subject)}"
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
    if symbol.section != pool.section:
        yield f"{record.name} is in {symbol.section or 'no section'}, not {pool.section}"


@dataclass(frozen=True, slots=True)
class _Life:
    """Half steps, both ends included, by the plan and by the calls that name the buffer."""

    planned: tuple[int, int]
    called: tuple[int, int]

    def meets(self, other: _Life) -> bool:
        return _meet(self.planned, other.planned) or _meet(self.called, other.called)


def sid_overlap(subject: Subject) -> Finding:
    """Buffers that share addresses never live at once; in a pool that the caller passes, offsets.

    Lifetimes are the manifest's and, independently, those from the first to the last call that
    names the buffer; state lives during all calls. A recorded in-place pair may meet in the one
    call, at one address.
    """
    buffers = _extents(subject)
    lives = _lives(subject)
    if not buffers:
        return not_applicable("the ELF has no buffer to compare: see sids")
    pairs = [
        (a, b)
        for a, b in combinations(sorted(buffers.keys() & lives.keys()), 2)
        if buffers[a].meets(buffers[b])
    ]
    in_place = {frozenset(pair) for pair in subject.manifest.plan.in_place}
    problems = []
    for a, b in pairs:
        same_address = buffers[a].start == buffers[b].start
        excused = frozenset((a, b)) in in_place and same_address and _hand_over(lives[a], lives[b])
        if lives[a].meets(lives[b]) and not excused:
            problems.append(f"{a} and {b} live at once and overlap in memory")
    expected = "buffers that share addresses have disjoint lifetimes"
    found = f"{len(pairs)} pairs share addresses, all disjoint in time"
    return judged(expected, problems, found, pairs=len(pairs))


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
        called = (2 * min(steps), 2 * max(steps) + 1) if steps else planned
        if record.is_state:
            called = (0, 2 * len(subject.manifest.calls) + 1)
        lives[record.name] = _Life(planned, called)
    return lives


def _hand_over(a: _Life, b: _Life) -> bool:
    """Whether one ends in the call that begins the other."""
    first, second = sorted((a.called, b.called))
    return not _meet(a.planned, b.planned) and first[1] == second[0] + 1


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


@dataclass(frozen=True, slots=True)
class _Extent:
    """Bytes from ``start`` to ``end`` of a passed pool, or of the address space, ""."""

    space: str
    start: int
    end: int

    def meets(self, other: _Extent) -> bool:
        return self.space == other.space and self.start < other.end and other.start < self.end


def _extents(subject: Subject) -> dict[str, _Extent]:
    """Where each buffer is, by its symbol, or in the manifest where it has none."""
    passed = {pool.name for pool in subject.manifest.plan.pools if not pool.symbol}
    found = {
        b.name: _Extent(b.pool, b.offset, b.offset + b.nbytes)
        for b in subject.manifest.plan.buffers
        if b.pool in passed
    }
    for name, symbols in _buffer_symbols(subject).items():
        found[name] = _Extent("", symbols[0].address, symbols[0].end)
    return found


def _memory_file(subject: Subject) -> str:
    """The STT_FILE symbol of the generated assembler file."""
    return f"{subject.manifest.module}_memory.s"


def _buffer_symbols(subject: Subject) -> dict[str, list[Symbol]]:
    found: dict[str, list[Symbol]] = {}
    for symbol in subject.elf.symbols:
        is_ours = PurePosixPath(symbol.file).name == _memory_file(subject)
        if is_ours and _BUFFER_NAME.fullmatch(symbol.name):
            found.setdefault(symbol.name, []).append(symbol)
    return found


def _placed_pools(subject: Subject) -> list[PoolRecord]:
    """Pools with an address of their own: a pool that the caller owns has no symbol."""
    return [pool for pool in subject.manifest.plan.pools if pool.symbol and pool.nbytes]


def _placed_buffers(subject: Subject) -> list[BufferRecord]:
    placed = {pool.name for pool in _placed_pools(subject)}
    return [buffer for buffer in subject.manifest.plan.buffers if buffer.pool in placed]


def _pool_of(subject: Subject, record: BufferRecord) -> PoolRecord:
    return next(p for p in subject.manifest.plan.pools if p.name == record.pool)
