"""Random damage to texts and to trees of JSON."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Json = dict[str, Any]

TOKENS = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"-1", b"1e9", b"0"),
    *(b"4294967295", b"4294967296", b"2147483647", b"18446744073709551616", b'"\\u0000"'),
    *(b"[" * 40, b'{"a":' * 40, b"\x00", b"\xff", b'"attrs"', b'"nodes": []', b"[[0,0,0]]"),
)
NUMBERS = (0, 1, 2, 3, 7, 8, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, -1, 10**30, 0.5)
LENGTHS = (0, 1, 7, 8, 255, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1)


def damaged(rng: random.Random, data: bytes, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """The text with a few bytes replaced, removed or repeated, or with a token inserted."""
    for _ in range(rng.randrange(1, 4)):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        end = min(end, at + rng.randrange(1, 12))
        match rng.randrange(4):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:at] + rng.choice(tokens) + data[at:]
            case 2:
                data = data[:at] + data[at:end] * 2 + data[end:]
            case _:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    return data or b" "


def changed(rng: random.Random, tree: Json, words: Sequence[str]) -> Json:
    """The tree with a few values replaced, removed, moved or repeated. New texts are ``words``."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randrange(1, 4)):
        holder, key = rng.choice(list(_places(tree)))
        rng.choice(_CHANGES)(rng, holder, key, words)
    return tree


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


def _replace(rng: random.Random, holder: Any, key: Any, words: Sequence[str]) -> None:
    old = holder[key]
    if isinstance(old, int):
        choice = rng.choice((*NUMBERS, old + 1, old - 1, old * 2))
        holder[key] = choice
    elif isinstance(old, str):
        holder[key] = rng.choice(words)
    else:
        holder[key] = rng.choice(([], {}, [[]], [0], 1, "1", None, True, [old, old]))


def _remove(_rng: random.Random, holder: Any, key: Any, _words: Sequence[str]) -> None:
    del holder[key]


def _double(rng: random.Random, holder: Any, key: Any, words: Sequence[str]) -> None:
    if isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[rng.choice(words)] = copy.deepcopy(holder[key])


def _swap(rng: random.Random, holder: Any, key: Any, _words: Sequence[str]) -> None:
    other = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    holder[key], holder[other] = holder[other], holder[key]


_CHANGES: tuple[Callable[[random.Random, Any, Any, Sequence[str]], None], ...] = (
    *(_replace, _replace, _replace, _remove, _double, _swap),
)
