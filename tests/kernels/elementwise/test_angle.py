"""Kernels of atan2."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops.elementwise.angle import OP, Atan2Attrs
from tests.kernels.conformance import conformance as c

_SPECIAL = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38),
        *(1e-30, 0.41421354, -2.4142137, 0.99999994, 1.0000001, 7e-39),
    ],
    np.float32,
)


def _case(name: str, y: Array, x: Array) -> c.Case:
    arrays = [np.ascontiguousarray(each, np.float32) for each in (y, x)]
    inputs = tuple(c.Tensor(ArrayType(a.shape, DType.FLOAT32), a) for a in arrays)
    return c.Case(name, OP.name, Atan2Attrs(), inputs, None, DType.FLOAT32)


def _cases() -> list[c.Case]:
    """All pairs of special numbers, points in all directions, points of any size."""
    rng = np.random.default_rng(0)
    angle, size = rng.uniform(-np.pi, np.pi, 5000), np.exp(rng.uniform(-80, 80, 5000))
    wide = [np.exp(rng.uniform(-90, 85, 5000)) * rng.choice([-1, 1], 5000) for _ in range(2)]
    return [
        _case("special", _SPECIAL.reshape(-1, 1), _SPECIAL.reshape(1, -1)),
        _case("directions", size * np.sin(angle), size * np.cos(angle)),
        _case("unit", np.sin(angle), np.cos(angle)),
        _case("sizes", *wide),
    ]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(_cases(), tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(_cases()[:1], tmp_path)
