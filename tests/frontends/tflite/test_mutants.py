"""Mutated files that the frontend accepts, in sequences: the bytes of LiteRT.

The frontend refuses all others (``test_tflite_fuzz``). LiteRT has the last word only on files that
it computes, too: it refuses some that are sound without its own tables, and crashes on others.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import MicrogenError
from microgen.frontends import numerics
from microgen.frontends.tflite import convert as frontend
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate, initial_state
from microgen.graph.ops import registry
from microgen.graph.ops.base import StatusError
from tests.frontends import litert_process
from tests.frontends.litert_process import Sequences
from tests.frontends.mutated import mutant, small_network, streaming_network, uint8_network
from tests.kernels.conformance.litert_oracle import needs_litert

MODELS = {
    "int8": small_network().to_bytes(),
    "uint8": uint8_network().to_bytes(),
    "streaming": streaming_network(),
}
SAMPLES = 3
LARGEST = 1 << 16  # elements of a tensor, because a mutant may declare gigabytes


def _accepted(data: bytes) -> Graph | None:
    try:
        graph = frontend.load(data, file="m.tflite", numerics=numerics.profile("litert"))
    except MicrogenError:
        return None
    sizes = (math.prod(t.shape) for t in graph.types.values())
    return graph if max(sizes) <= LARGEST else None


def _samples(graph: Graph, seed: int) -> Sequences:
    rng = np.random.default_rng(seed)
    types = [graph.types[name] for name in graph.inputs]
    limits = [np.iinfo(t.dtype.numpy) for t in types]
    return [
        [
            rng.integers(limit.min, limit.max + 1, t.shape).astype(t.dtype.numpy)
            for t, limit in zip(types, limits, strict=True)
        ]
        for _ in range(SAMPLES)
    ]


def _ours(graph: Graph, samples: Sequences) -> Sequences:
    state, found = initial_state(graph), []
    for row in samples:
        values = evaluate(graph, dict(zip(graph.inputs, row, strict=True)), registry(), state)
        found.append([values[name] for name in graph.outputs])
    return found


def _computed(graph: Graph, samples: Sequences) -> Sequences | None:
    """Our outputs; None if a firmware would report an error."""
    try:
        return _ours(graph, samples)
    except StatusError:
        return None


def _equal(ours: Sequences | None, theirs: Sequences) -> bool:
    if ours is None:
        return False
    pairs = [(a, b) for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)]
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def _assert_right(name: str, seed: int, count: int, folder: Path) -> int:
    """The number of mutants that both computed."""
    rng, cases, graphs = random.Random(seed), list[tuple[bytes, Sequences]](), list[Graph]()
    for number in range(count):
        data = mutant(rng, MODELS[name])
        graph = _accepted(data)
        if graph is not None:
            graphs.append(graph)
            cases.append((data, _samples(graph, number)))
    known = litert_process.outputs(cases, folder)
    compared = 0
    wrong = []
    for i, (graph, (_, samples), theirs) in enumerate(zip(graphs, cases, known, strict=True)):
        if theirs is not None:
            compared += 1
            if not _equal(_computed(graph, samples), theirs):
                wrong.append(i)
    assert wrong == []
    return compared


@needs_litert
@pytest.mark.parametrize("name", MODELS)
def test_accepted_mutants_equal_litert(name: str, tmp_path: Path) -> None:
    assert _assert_right(name, 1, 250, tmp_path) >= 20


@needs_litert
@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_accepted_mutants_equal_litert(name: str, seed: int, tmp_path: Path) -> None:
    assert _assert_right(name, seed, 700, tmp_path) > 70
