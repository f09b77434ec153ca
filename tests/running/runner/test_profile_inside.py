"""Layers in loops and branches: the profile has their counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import microgen
from microgen.running.runner import InnerCount
from tests.support import tflite_loops as loops
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

pytestmark = [NEEDS_NINJA, NEEDS_ARM]
CALL = 4  # at least so many instructions are between two calls


def profiled(data: bytes, folder: Path) -> tuple[dict[str, InnerCount], int]:
    """The counts inside of the last call by their first layers, and that call's instructions."""
    (folder / "net.tflite").write_bytes(data)
    microgen.generate(folder / "net.tflite", "mps2_an386", folder / "p")
    found = microgen.run(folder / "p", profile=True)
    assert found.per_call is not None
    ((counts,),) = found.inside
    return {one.layers.steps[0].layer: one for one in counts}, found.per_call[0][-1]


@pytest.mark.parametrize(("make", "rounds"), [(loops.recurrent, 4), (loops.nested, 8)])
def test_layers_of_loops_have_the_counts_of_all_rounds(
    make: object, rounds: int, tmp_path: Path
) -> None:
    counts, total = profiled(make(), tmp_path)  # type: ignore[operator]
    assert counts["new"].times == counts["mixed"].times == rounds
    assert all(one.instructions >= one.times for one in counts.values())
    calls = sum(one.times for one in counts.values())
    # Everything else is the operator's own: calls, first values and the loop.
    own = total - sum(one.instructions for one in counts.values())
    assert CALL * calls < own < 20 * calls
    assert all(one.cost and one.cost.cycles >= one.instructions for one in counts.values())


def test_a_branch_counts_what_the_data_chose(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(loops.branching())
    microgen.generate(tmp_path / "net.tflite", "mps2_an386", tmp_path / "p")
    found = microgen.run(tmp_path / "p", profile=True)
    ((counts,),) = found.inside
    assert sorted(one.times for one in counts) == [0, 1]
