"""Checks a planned object in memory: it is one symbol, of its size, where it was planned."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.manifest import BlobRecord, ConstantRecord, PoolRecord, SharedRecord
from microgen.verifier.elf import Symbol
from microgen.verifier.subject import Subject

Record = BlobRecord | ConstantRecord | PoolRecord | SharedRecord


def only(subject: Subject, record: Record) -> Symbol | None:
    """The object's symbol; None unless there is exactly one."""
    symbols = subject.elf.named(record.symbol)
    return symbols[0] if len(symbols) == 1 else None


def problems(subject: Subject, record: Record, alignment: int = 1) -> Iterator[str]:
    """Problems of its symbol, size, section, or alignment in bytes."""
    symbol = only(subject, record)
    if symbol is None:
        yield f"{len(subject.elf.named(record.symbol))} symbols are named {record.symbol}"
        return
    if symbol.kind != "object":
        yield f"{symbol.name} is of type {symbol.kind}"
    if symbol.size != record.nbytes:
        yield f"{symbol.name} has {symbol.size} bytes, planned {record.nbytes}"
    if symbol.section != record.section:
        yield f"{symbol.name} is in {symbol.section or 'no section'}, not {record.section}"
    if symbol.address % alignment:
        yield f"{symbol.name} at {symbol.address:#x} is not aligned to {alignment}"
