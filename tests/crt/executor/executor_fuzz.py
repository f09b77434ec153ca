"""Damaged graphs and parameter files, from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import numpy as np

from microgen.graph import params_file
from tests.crt.executor.executor_graphs import Case, Json, everything, seed_demo
from tests.crt.mutations import LENGTHS, changed, damaged

POOL = 1 << 14
WORDS = (
    *("null", "tvm_op", "__nop", "__copy", "add_f32", "split_f32", "sum_bytes", "fails", "", "x"),
    *("float32", "int8", "int64", "bool", "list_int", "list_str", "0", "1", "2", "4294967297"),
    *("p0", "d1", "a" * 200, "\u00e9", "\U0001f600", "\x00", '"', "storage_id", "metadata"),
)


def params() -> bytes:
    return params_file.dumps({"p0": np.arange(8, dtype=np.float32).reshape(1, 8)})


def demo_params() -> bytes:
    rng = np.random.default_rng(1)
    arrays = {"w1": rng.random((2, 2, 3, 3), np.float32), "b1": rng.random(2, np.float32)}
    return params_file.dumps(arrays)


def originals() -> list[tuple[Json, bytes]]:
    return [(everything(), params()), (seed_demo(4, 2), demo_params())]


def truncations() -> Iterator[Case]:
    """All beginnings of all originals."""
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
            text = json.dumps(changed(rng, tree, WORDS)).encode()
        elif kind < 0.75:
            text = damaged(rng, json.dumps(tree).encode())
        else:
            text = json.dumps(tree).encode()
            blob = _blob(rng, blob)
        pool = rng.randrange(1, 3000) if rng.random() < 0.1 else POOL
        yield Case(text, blob, pool)


def _blob(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.5:
        return damaged(rng, data, tuple(n.to_bytes(8, "little") for n in LENGTHS))
    at = rng.randrange(0, max(1, len(data) - 8), 2)
    value = rng.choice((*LENGTHS, int.from_bytes(data[at : at + 8], "little") ^ 1 << at % 64))
    return data[:at] + value.to_bytes(8, "little") + data[at + 8 :]
