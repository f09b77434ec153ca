"""Layers of the sizes that networks have, of ops that move and look up elements."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.ir.graph import DType
from tests.ops import conformance as c
from tests.ops import (
    test_all_class_suppression,
    test_axis_positions,
    test_grid_sample,
    test_nd_positions,
    test_resample,
    test_roi_align,
    test_scatter,
    test_topk,
)

_IMAGE = (1, 25, 5, 64)
_COMBINED = (DType.FLOAT32, DType.INT32, DType.INT64)


def cases() -> Iterator[c.Case]:
    """At least one case for each of their kernels."""
    for dtype in DType:
        yield test_scatter.case_of(0, dtype, (100, 64), 40, "none", False)
        if dtype in _COMBINED:
            yield test_scatter.case_of(0, dtype, (100, 64), 40, "add", False)
        if dtype is not DType.BOOL:
            yield test_topk.case_of(0, dtype, (10, 100), 1, 5)
    yield test_resample.case_of(0, _IMAGE, 1, 50, 2)
    yield test_grid_sample.case_of(0, (1, 25, 10, 64), (20, 10), "linear", "zeros", True)
    yield test_roi_align.case_of(1, (1, 25, 10, 64), 5)
    yield test_nd_positions.case_of(0, (25, 5, 64), (40,), 0)
    yield test_axis_positions.case_of(0, (25, 5, 64), (25, 5, 40), 2)
    yield test_all_class_suppression.case_of(1, 1, 20, 100)
