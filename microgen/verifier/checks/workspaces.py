"""Checks that the workspaces of several models share one memory, or are disjoint."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from microgen.base.manifest import SharedRecord
from microgen.verifier.checks import objects
from microgen.verifier.elf.elf import Symbol
from microgen.verifier.subject import Finding, Subject, judged, not_applicable


def shared_workspace(subject: Subject) -> Finding:
    """For several models: no two arenas overlap, except those in the shared workspace, which
    begin where ``mg_shared_workspace`` begins and end inside it; none of these holds a state.

    Reads: symbols; plans of all models.
    """
    record = subject.manifest.shared_workspace
    if not subject.manifest.more:
        return not_applicable("there is one model")
    problems = [*_apart_problems(subject, record)]
    if record is None:
        return judged("no two models' workspaces overlap", problems, "none overlap")
    problems += _problems(subject, record)
    names = ", ".join(record.modules)
    expected = (
        f"{record.symbol}: {record.nbytes} bytes, aligned to {record.alignment}, in "
        f"{objects.section_of(subject, record)}, contains the workspaces of {names}, "
        f"from its start, and no other"
    )
    actual = "; ".join(map(str, subject.elf.named(record.symbol)))
    return judged(expected, problems, actual, nbytes=record.nbytes)


def _problems(subject: Subject, record: SharedRecord) -> Iterator[str]:
    yield from objects.problems(subject, record, record.alignment)
    memory = objects.only(subject, record)
    if memory is None:
        return
    inside = [arena for module, arena in _arenas(subject) if module in record.modules]
    for arena in inside:
        # One model runs at a time, so all arenas may begin at the same byte.
        if arena.address != memory.address or arena.end > memory.end:
            yield f"{arena} is not the start of {memory}"
    for own in subject.manifest.modules:
        # Between two runs of a model another one may write there.
        if own.module in record.modules and any(b.is_state for b in own.plan.buffers):
            yield f"{own.module} keeps a state in memory that it shares"


def _apart_problems(subject: Subject, record: SharedRecord | None) -> Iterator[str]:
    """Pools that overlap but may not."""
    sharing = record.modules if record else ()
    own = [arena for module, arena in _arenas(subject) if module not in sharing]
    common = subject.elf.named(record.symbol) if record else []
    for a, b in combinations([*own, *common], 2):
        if a.address < b.end and b.address < a.end:
            yield f"{a} overlaps {b}"


def _arenas(subject: Subject) -> Iterator[tuple[str, Symbol]]:
    for module in subject.manifest.modules:
        for pool in module.plan.pools:
            if pool.symbol:
                for symbol in subject.elf.named(pool.symbol):
                    yield module.module, symbol
