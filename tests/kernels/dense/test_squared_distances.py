"""The kernel of squared_distances against the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.dense.squared_distances import OP, SquaredDistancesAttrs
from tests.kernels.conformance import conformance as c


def squared_distances(seed: int, rows: int, vectors: int, features: int) -> c.Case:
    rng = np.random.default_rng(seed)
    shapes = ((rows, features), (vectors, features))
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    inputs = tuple(c.Tensor(ArrayType(a.shape, DType.FLOAT32), a) for a in arrays)
    return c.Case(f"seed {seed}", OP.name, SquaredDistancesAttrs(), inputs, None, DType.FLOAT32)


CASES = [
    squared_distances(0, 1, 1, 1),
    squared_distances(1, 3, 5, 4),
    squared_distances(2, 1, 70, 33),
]


def test_squared_distances_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_squared_distances_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES, tmp_path)
