"""Wrong lags and short buffers are noticed: by the check of plans, sanitizers, and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from microgen.pipeline import Compiled
from microgen.planner import check
from microgen.planner.program.plan import MemoryPlan
from tests.differential.generator import Case
from tests.graph.rows import guarded, planted
from tests.graph.rows.blocks import generate
from tests.graph.rows.test_depths import difference, inputs_of, plans, variant_at


def _at(depth: int, folder: Path) -> tuple[Case, Compiled]:
    """The network with its layers together to a depth."""
    case = generate(planted.SEED)
    return case, variant_at(case, folder, depth).compiled


def _ran(depth: int, folder: Path) -> str:
    """What is wrong with the outputs, "" if nothing is. Raises GuardedError."""
    case, compiled = _at(depth, folder)
    host = guarded.for_host([compiled], folder)
    return difference(case, host.run(0, inputs_of(case)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("depth", [0, 1])
def test_a_small_lag_is_a_wrong_output(
    depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not _ran(depth, tmp_path / "right")
    planted.small_lags(monkeypatch)
    assert _ran(depth, tmp_path / "wrong")


def test_a_short_buffer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _ran(planted.TOGETHER, tmp_path / "right")
    planted.short_buffers(monkeypatch)
    with pytest.raises(guarded.GuardedError, match=r"heap-buffer-overflow|status 3"):
        _ran(planted.TOGETHER, tmp_path / "wrong")


def test_the_check_of_plans_finds_every_small_lag(tmp_path: Path) -> None:
    """Every output that overlaps its input is moved towards it, as if its lag were smaller."""
    tried = 0
    for seed in (0, 4):
        for depth, (program, plan, _) in plans(generate(seed), tmp_path):
            assert not check.problems(program, plan)
            for moved in _nearer(plan):
                tried += 1
                assert check.problems(program, moved), f"{seed} at depth {depth}"
    assert tried > 16


def _nearer(plan: MemoryPlan) -> Iterator[MemoryPlan]:
    """The plan with one output nearer to its input, with the old lag and with a new one."""
    (pool,) = plan.pools
    for number, pair in enumerate(plan.in_place):
        if pair.lag:
            places = tuple(
                replace(p, offset=p.offset + pool.alignment) if p.name == pair.output else p
                for p in plan.placements
            )
            yield replace(plan, placements=places)
            lag = max(0, pair.lag - pool.alignment)
            pairs = [*plan.in_place]
            pairs[number] = replace(pair, lag=lag)
            yield replace(plan, placements=places, in_place=tuple(pairs))
