"""Damaged graphs and parameter files, from a seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from microgen import params_file
from tests.crt.executor_graphs import Case, Json, everything, seed_demo

POOL = 1 << 14
TOKENS = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"-1", b"1e9", b"0"),
    *(b"4294967295", b"4294967296", b"2147483647", b"18446744073709551616", b'"\\u0000"'),
    *(b"[" * 40, b'{"a":' * 40, b"\x00", b"\xff", b'"attrs"', b'"nodes": []', b"[[0,0,0]]"),
)
NUMBERS = (0, 1, 2, 3, 7, 8, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, -1, 10**30, 0.5)
WORDS = (
    *("null", "tvm_op", "__nop", "__copy", "add_f32", "split_f32", "sum_bytes", "fails", "", "x"),
    *("float32", "int8", "int64", "bool", "list_int", "list_str", "0", "1", "2", "4294967297"),
    *("p0", "d1", "a" * 200, "\u00e9", "\U0001f600", "\x00", '"', "storage_id", "metadata"),
)
LENGTHS = (0, 1, 7, 8, 255, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1)


def params() -> bytes:
    return params_file.dumps({"p0": np.arange(8, dtype=np.float32).reshape(1, 8)})


def demo_params() -> bytes:
    rng = np.random.default_rng(1)
    arrays = {"w1": rng.random((2, 2, 3, 3), np.float32), "b1": rng.random(2, np.float32)}
    return params_file.dumps(arrays)


def originals() -> list[tuple[Json, bytes]]:
    return [(everything(), params()), (seed_demo(4, 2), demo_params())]


def truncations() -> Iterator[Case]:
    """Every beginning of every original."""
    for tree, blob in originals():
        text = json.dumps(tree).encode()
        yield from (Case(text[:end], blob, POOL) for end in range(len(text)))
        yield from (Case(text, blob[:end], POOL) for end in range(1, len(blob)))


def mutations(seed: int, count: int) -> Iterator[Case]:
    """Cases that differ from an original in a few places."""
    rng = random.Random(seed)
    trees = originals()
    for _ in range(count):
        tree, blob = rng.choice(trees)
        kind = rng.random()
        if kind < 0.45:
            text = json.dumps(_tree(rng, tree)).encode()
        elif kind < 0.75:
            text = _bytes(rng, json.dumps(tree).encode(), TOKENS)
        else:
            text = json.dumps(tree).encode()
            blob = _blob(rng, blob)
        pool = rng.randrange(1, 3000) if rng.random() < 0.1 else POOL
        yield Case(text, blob, pool)


def _bytes(rng: random.Random, data: bytes, tokens: tuple[bytes, ...]) -> bytes:
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


def _blob(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.5:
        return _bytes(rng, data, tuple(n.to_bytes(8, "little") for n in LENGTHS))
    at = rng.randrange(0, max(1, len(data) - 8), 2)
    value = rng.choice((*LENGTHS, int.from_bytes(data[at : at + 8], "little") ^ 1 << at % 64))
    return data[:at] + value.to_bytes(8, "little") + data[at + 8 :]


def _tree(rng: random.Random, tree: Json) -> Json:
    """The graph with a few values replaced, removed, moved or doubled."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randrange(1, 4)):
        places = list(_places(tree))
        holder, key = rng.choice(places)
        rng.choice(CHANGES)(rng, holder, key)
    return tree


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


def _replace(rng: random.Random, holder: Any, key: Any) -> None:
    old = holder[key]
    if isinstance(old, int):
        choice = rng.choice((*NUMBERS, old + 1, old - 1, old * 2))
        holder[key] = choice
    elif isinstance(old, str):
        holder[key] = rng.choice(WORDS)
    else:
        holder[key] = rng.choice(([], {}, [[]], [0], 1, "1", None, True, [old, old]))


def _remove(rng: random.Random, holder: Any, key: Any) -> None:
    del holder[key]


def _double(rng: random.Random, holder: Any, key: Any) -> None:
    if isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[rng.choice(WORDS)] = copy.deepcopy(holder[key])


def _swap(rng: random.Random, holder: Any, key: Any) -> None:
    other = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    holder[key], holder[other] = holder[other], holder[key]


CHANGES: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    *(_replace, _replace, _replace, _remove, _double, _swap),
)
