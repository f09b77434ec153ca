"""Errors that tests plant: a lag that is too small, and buffers that are too short."""

from __future__ import annotations

from dataclasses import replace

import pytest

from microgen.compiler.codegens import row_function
from microgen.compiler.codegens.base import Primitive
from microgen.graph.ir.graph import Array
from microgen.graph.rows import overlap as rows_overlap
from microgen.kernels import by_shape, lags

SEED = 0  # of a network whose first layers overlap their inputs, and most of whose layers can roll
TOGETHER = 7  # of its layers; their buffers are the last ones in memory
_TOO_LITTLE = 32  # bytes


def small_lags(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on outputs begin too late before their inputs: those of single layers, and those of
    functions with rows."""
    furthest, of_rows = lags.furthest, rows_overlap._lag

    def short(written: Array, read: Array) -> int:
        return max(0, furthest(written, read) - _TOO_LITTLE)

    def short_of_rows(*given: object) -> int:
        return max(0, of_rows(*given) - _TOO_LITTLE)  # type: ignore[arg-type]

    monkeypatch.setattr(lags, "furthest", short)
    monkeypatch.setattr(by_shape, "results", {})
    monkeypatch.setattr(rows_overlap, "_lag", short_of_rows)


def short_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on functions with rows state too little scratch."""
    primitive = row_function.primitive

    def short(*given: object) -> Primitive:
        made = primitive(*given)  # type: ignore[arg-type]
        return replace(made, scratch=made.scratch - _TOO_LITTLE)

    monkeypatch.setattr(row_function, "primitive", short)
