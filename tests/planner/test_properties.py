"""Properties of every program's plan by every planner."""

from __future__ import annotations

from hypothesis import event, given, settings
from hypothesis import strategies as st

from microgen.base.output.text_layout import lines
from microgen.interface.inspection.plan import of_program
from microgen.planner import ALGORITHMS, check, plan
from microgen.planner.program.types import Program
from microgen.planner.timeline import live_bytes
from tests.planner.brute_force import least_peak
from tests.planner.strategies import ALIGNMENTS, programs
from tests.support.sampling import seeds

quick = settings(max_examples=50, deadline=None, derandomize=True)


@quick
@given(programs(), ALIGNMENTS, st.sampled_from(sorted(ALGORITHMS)))
def test_plans_are_sound(program: Program, alignment: int, algorithm: str) -> None:
    made = plan(program, algorithm=algorithm, alignment=alignment)
    assert check.problems(program, made) == []
    assert made.peak >= made.lower_bound == check.lower_bound(program)


@quick
@given(programs(), ALIGNMENTS)
def test_better_planners_need_no_more(program: Program, alignment: int) -> None:
    peaks = [
        plan(program, algorithm=name, alignment=alignment).peak
        for name in ("optimal", "greedy", "on-demand")
    ]
    assert peaks == sorted(peaks)


@settings(quick, max_examples=len(seeds(250)))
@given(programs(most_buffers=6, largest=6), st.sampled_from([1, 2, 4]))
def test_optimal_is_what_trying_everything_finds(program: Program, alignment: int) -> None:
    made = plan(program, alignment=alignment)
    event(made.proof)
    assert made.proof in (
        "optimal for this schedule",
        "optimal for this schedule: search exhausted",
    )
    assert made.peak == least_peak(program, alignment)


@quick
@given(programs(), ALIGNMENTS)
def test_plans_do_not_vary(program: Program, alignment: int) -> None:
    assert plan(program, alignment=alignment) == plan(program, alignment=alignment)


@quick
@given(programs())
def test_the_lower_bound_is_reached_by_live_bytes_when_all_pairs_are_used(
    program: Program,
) -> None:
    made = plan(program, algorithm="greedy", alignment=1)  # lags are not rounded up
    assert max(live_bytes(program, made), default=0) == made.lower_bound


@quick
@given(programs(most_buffers=40))
def test_timelines_fit(program: Program) -> None:
    made = plan(program, algorithm="greedy")
    shown = list(lines(of_program(program, made).parts(), 80))
    assert max(map(len, shown)) <= 80
    assert {p.name for p in made.placements} <= {line.partition(" ")[0] for line in shown}
