"""Checks after every pass that tensors with names of the model have the values of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from microgen.compiler import passes
from microgen.graph.ir import naming
from microgen.graph.ir.graph import Array, DType, Graph
from microgen.graph.ops import registry

_NEAR_ZERO = 3  # of indices and counts, which are seldom larger


def samples(graph: Graph, count: int, seed: int = 0) -> list[list[Array]]:
    """Random values of a graph's inputs: of floats some are special."""
    rng = np.random.default_rng(seed)
    return [[_drawn(graph, name, rng) for name in graph.inputs] for _ in range(count)]


def _drawn(graph: Graph, name: str, rng: np.random.Generator) -> Array:
    kind = graph.types[name]
    if name in graph.fixed:
        return np.array(graph.fixed[name], kind.dtype.numpy).reshape(kind.shape)
    if kind.dtype is DType.FLOAT32:
        return np.asarray(rng.normal(0, 2, kind.shape), np.float32)
    if kind.dtype is DType.BOOL:
        return np.asarray(rng.integers(0, 2, kind.shape), bool)
    limits = np.iinfo(kind.dtype.numpy)
    low, high = int(limits.min), int(limits.max)
    if kind.dtype.nbytes > 2:
        low, high = max(low, -_NEAR_ZERO), _NEAR_ZERO
    return np.asarray(rng.integers(low, high + 1, kind.shape), kind.dtype.numpy)


def wrong_names(
    graph: Graph,
    pipeline: Sequence[passes.Pass] = passes.DEFAULT_PIPELINE,
    count: int = 2,
    given: Sequence[Sequence[Array]] = (),
) -> list[str]:
    """The pass and the tensor of each name that has another value after a pass, for ``count``
    random samples or for those that are ``given``."""
    return list(_wrong(graph, pipeline, given or samples(graph, count)))


def _differ(before: Graph, after: Graph) -> bool:
    parts = ("nodes", "inputs", "outputs", "updates", "channels", "laid_out")
    return any(getattr(before, part) != getattr(after, part) for part in parts) or any(
        after.constants.get(name) is not array for name, array in before.constants.items()
    )


def _wrong(
    source: Graph, pipeline: Sequence[passes.Pass], given: Sequence[Sequence[Array]]
) -> Iterator[str]:
    before = source
    for step in pipeline:
        after = step(before)
        if _differ(before, after):
            for one in naming.misnamed(source, after, given, registry()):
                yield f"{step.__name__}: {one}"
        before = after
