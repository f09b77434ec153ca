"""The check of linear requantizations: the tables in the ELF give what is specified.

It does not repeat the search that found them. A linear requantization reaches an output at a sum
that a division tells. The specified one, which is monotone too, equals it for all sums if it
reaches each output at the same sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.arithmetic.linear import OFFSET_SHIFT, SHIFT, Channels, specified
from microgen.errors import MicrogenError
from microgen.ir.graph import Array
from microgen.kernels.linear import channels
from microgen.manifest import ConstantRecord
from microgen.verifier import constants
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_KINDS = ("linear_multiplier", "linear_offset")


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two tables of a layer."""

    multiplier: ConstantRecord
    offset: ConstantRecord


def pairs(subject: Subject) -> tuple[list[_Pair], list[str]]:
    """The tables that belong together, and problems of those that have no partner."""
    tables: dict[tuple[Any, ...], dict[str, ConstantRecord]] = {}
    for record in subject.manifest.constants:
        if record.transform in _KINDS:
            key = (record.sources, *sorted(record.arguments.items()))
            tables.setdefault(key, {})[record.transform] = record
    found = [[table.get(kind) for kind in _KINDS] for table in tables.values()]
    whole = [_Pair(one, other) for one, other in found if one and other]
    alone = [record for table in found if None in table for record in table if record]
    return whole, [f"{record.symbol}: its multipliers or offsets are missing" for record in alone]


def requantization(subject: Subject) -> Finding:
    """Each linear requantization in the ELF equals the specified one for all reachable sums."""
    whole, found = pairs(subject)
    if not whole and not found:
        return not_applicable("no layer has a linear requantization")
    expected = f"the linear requantization of {len(whole)} layers is exact for all their sums"
    try:
        parameters = subject.parameters()
    except MicrogenError as error:
        return Finding("failed", expected, str(error))
    found += [problem for pair in whole for problem in _problems(subject, pair, parameters)]
    return judged(expected, found, f"{len(whole)} layers proven again", layers=len(whole))


def _problems(subject: Subject, pair: _Pair, parameters: Mapping[str, Array]) -> Iterator[str]:
    record = pair.multiplier
    try:
        layer = channels([parameters[name] for name in record.sources], record.arguments)
    except (MicrogenError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        yield f"{constants.name_of(record)}: {error!r}"
        return
    tables = [_table(subject, one) for one in (pair.multiplier, pair.offset)]
    if any(len(table) != len(layer.scales) for table in tables):
        yield f"{constants.name_of(record)}: the ELF has no table of {len(layer.scales)} entries"
        return
    wrong = np.flatnonzero(differs(layer, *tables))
    if wrong.size:
        yield f"{constants.name_of(record)}: channel {wrong[0]} gives other outputs for some sums"


def _table(subject: Subject, record: ConstantRecord) -> Array:
    for address in constants.addresses(subject, record):
        if (found := subject.elf.read(address, record.nbytes)) and len(found) % 4 == 0:
            return np.frombuffer(found, "<i4").astype(np.int64)
    return np.zeros(0, np.int64)


def differs(layer: Channels, multipliers: Array, offsets: Array) -> Array:
    """The channels whose outputs with these tables, int64 [channels], are not the specified ones
    for all reachable sums: bool [channels]. Multipliers are not negative."""
    least, most, folded = (
        np.array(sums, np.int64)[:, None] for sums in (layer.least, layer.most, layer.folded)
    )
    values = np.arange(layer.low + 1, layer.high + 1, dtype=np.int64)[None, :]
    distances = (values << SHIFT) - (offsets[:, None] << OFFSET_SHIFT)
    steps = multipliers[:, None]
    # The least sum with which the linear one reaches a value. Without a step it always does, or
    # never.
    reached = folded - (-distances // np.maximum(steps, 1))
    reached = np.where(steps == 0, np.where(distances > 0, most + 1, least), reached)
    reached = np.clip(reached, least, most + 1)
    is_early = (reached <= most) & (specified(np.minimum(reached, most), layer) < values)
    is_late = (reached > least) & (specified(np.maximum(reached - 1, least), layer) >= values)
    wrong: Array = (is_early | is_late).any(axis=1) | (multipliers < 0)
    return wrong
