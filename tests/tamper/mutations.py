"""Random changes of ELF files and of manifests, from a seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.tamper.elf32 import Elf32

_WORDS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, 0x20000000, 0x1000, 0x10000)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 255, 2**31, 2**63, -(2**70), 0.5, -0.0, 1e308, float("inf")),
    *("", "x", "int8", "sid_1", "../../etc/passwd", "\x1b[31m", "x" * 5000, "\ud800"),
    *([], [0], [[]], [-1], {}, {"x": 1}, [2**40, 2**40], ["sid_1", "sid_2"]),
)


def mutated_elf(data: bytes, seed: int) -> bytes:
    """One to four changes, most of them in headers and symbols."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        chance.choice(_ELF_CHANGES)(changed, data, chance)
    return bytes(changed)


def _structures(data: bytes) -> list[range]:
    """Where headers, symbols, names and build attributes are."""
    elf = Elf32(data)
    places = [range(52)]
    places += [range(record.at, record.at + 32) for record in elf.segments()]
    for record in elf.sections():
        places.append(range(record.at, record.at + 40))
        if not record["sh_flags"] and record["sh_type"] not in (0, 1):
            places.append(range(record["sh_offset"], record["sh_offset"] + record["sh_size"]))
    return [place for place in places if place]


def _byte(changed: bytearray, data: bytes, chance: random.Random) -> None:
    changed[chance.choice(chance.choice(_structures(data))) % len(changed)] = chance.randrange(256)


def _word(changed: bytearray, data: bytes, chance: random.Random) -> None:
    at = chance.choice(chance.choice(_structures(data))) // 4 * 4
    word = chance.choice((*_WORDS, len(data), len(data) - 1, chance.getrandbits(32)))
    if at + 4 <= len(changed):
        changed[at : at + 4] = word.to_bytes(4, "little")


def _anywhere(changed: bytearray, data: bytes, chance: random.Random) -> None:
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)


def _copied(changed: bytearray, data: bytes, chance: random.Random) -> None:
    """One structure over another."""
    source, target = (chance.choice(_structures(data)) for _ in range(2))
    size = min(len(source), len(target), max(len(changed) - target.start, 0))
    changed[target.start : target.start + size] = data[source.start : source.start + size]


def _cut(changed: bytearray, data: bytes, chance: random.Random) -> None:
    del changed[max(chance.randrange(len(changed)), 52) :]


_ELF_CHANGES: tuple[Callable[[bytearray, bytes, random.Random], None], ...] = (
    *(_byte, _byte, _word, _word, _word, _anywhere, _copied, _cut),
)


def mutated_manifest(data: Any, seed: int) -> bytes:
    """A manifest's JSON with some other values, or, now and then, with other bytes."""
    chance = random.Random(seed)
    changed = copy.deepcopy(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        _change_value(changed, chance)
    text = json.dumps(changed).encode()
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = text[:at] + bytes([chance.randrange(256)]) + text[at + chance.randrange(3) :]
    return text


def _change_value(data: Any, chance: random.Random) -> None:
    holder, key = chance.choice([*_places(data)])
    way = chance.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1:
        other, name = chance.choice([*_places(data)])
        holder[key] = copy.deepcopy(other[name])
    elif way == 2 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif way == 3 and type(holder[key]) is int:
        holder[key] += chance.choice((-1, 1, 16, 1 << 32))
    else:
        holder[key] = copy.deepcopy(chance.choice(_VALUES))


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every list and object with each of its keys."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield data, key
        if isinstance(value, (dict, list)):
            yield from _places(value)
