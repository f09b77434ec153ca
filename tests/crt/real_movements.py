"""Layers of the sizes that networks have, of ops that move and look up elements."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.graph.ir.graph import DType
from tests.kernels.conformance import conformance as c
from tests.kernels.moves import movement_cases as made

_IMAGE = (1, 25, 5, 64)
_COMBINED = (DType.FLOAT32, DType.INT32, DType.INT64)


def cases() -> Iterator[c.Case]:
    """At least one case for each of their kernels."""
    for dtype in DType:
        yield made.scatter(0, dtype, (100, 64), 40, "none", False)
        if dtype in _COMBINED:
            yield made.scatter(0, dtype, (100, 64), 40, "add", False)
        if dtype is not DType.BOOL:
            yield made.topk(0, dtype, (10, 100), 1, 5)
    yield made.resample(0, _IMAGE, 1, 50, 2)
    yield made.grid_sample(0, (1, 25, 10, 64), (20, 10), "linear", "zeros", True)
    yield made.roi_align(1, (1, 25, 10, 64), 5)
    yield made.nd_positions(0, (25, 5, 64), (40,), 0)
    yield made.axis_positions(0, (25, 5, 64), (25, 5, 40), 2)
    yield made.all_class_suppression(1, 1, 20, 100)
