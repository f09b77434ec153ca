"""The costs of layers inside loops and branches are part of a schedule's score."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.base.manifest.schedule import ScheduleRecord
from microgen.interface import api
from tests.support import tflite_loops as loops


def score(tmp_path: Path, data: bytes, board: str = "mps2_an386") -> ScheduleRecord:
    """The schedule for speed, because layers inside loops and branches have their fastest kernels,
    too."""
    (tmp_path / "m.tflite").write_bytes(data)
    return api.plan(tmp_path / "m.tflite", board, optimize="speed").schedule


def test_each_round_counts(tmp_path: Path) -> None:
    one, four = (score(tmp_path, loops.recurrent(n)) for n in (2, 4))
    assert one.cycles > 0
    # Everything is in the loop but a copy of the result, if any.
    assert four.cycles == pytest.approx(2 * one.cycles, rel=0.1)
    assert four.instructions > one.instructions
    assert one.flash == four.flash
    assert one.unmeasured == four.unmeasured


def test_loops_inside_count_with_the_rounds_of_both(tmp_path: Path) -> None:
    alone, nested = (score(tmp_path, data) for data in (loops.recurrent(), loops.nested()))
    assert nested.cycles > 1.5 * alone.cycles


def test_of_a_branch_the_slower_graph_counts(tmp_path: Path) -> None:
    both, *each = (
        score(tmp_path, data)
        for data in (loops.branching(), loops.branching(True), loops.branching(False))
    )
    assert both.cycles >= max(one.cycles for one in each)
