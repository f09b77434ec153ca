"""Memory planning: an offset for every storage id and scratch buffer of a program.

Planners are found by name. Each gets the same liveness and returns a layout; whatever it returns
is re-checked by ``check``, which shares no code with them.
"""

from __future__ import annotations

from collections.abc import Callable

from microgen.errors import InternalError, MicrogenError
from microgen.planner import check, greedy, on_demand, optimal
from microgen.planner.layout import Layout
from microgen.planner.lifetimes import Liveness, analyse, lower_bound, shortened
from microgen.program import MemoryPlan, Placement, Pool, Program

POOL = "global_workspace"

ALGORITHMS: dict[str, Callable[[Liveness, int], Layout]] = {
    "on-demand": on_demand.place,
    "greedy": greedy.place,
    "optimal": optimal.place,
}


def plan(program: Program, *, algorithm: str = "optimal", alignment: int = 16) -> MemoryPlan:
    """Give every planned buffer of ``program`` its place in the workspace pool.

    ``alignment`` is in bytes, a power of two; every offset is a multiple of it, and the pool ends
    with its last buffer (its size is not rounded up).

    Raises MicrogenError for an unknown algorithm or an impossible alignment, and InternalError if
    the program reads what nothing wrote, or the independent check finds fault with the plan.
    """
    planner = _planner(algorithm)
    _check_alignment(alignment)
    liveness = analyse(program)
    made = _assemble(algorithm, liveness, planner(liveness, alignment), alignment)
    if found := check.problems(program, made):
        raise InternalError("; ".join(found[:3]), where=f"memory plan ({algorithm})")
    return made


def _planner(algorithm: str) -> Callable[[Liveness, int], Layout]:
    if algorithm not in ALGORITHMS:
        raise MicrogenError(
            f"there is no planner {algorithm!r}", hint=f"choose one of {', '.join(ALGORITHMS)}"
        )
    return ALGORITHMS[algorithm]


def _check_alignment(alignment: int) -> None:
    if alignment < 1 or alignment & (alignment - 1):
        raise MicrogenError(
            f"alignment is {alignment}, expected a power of two", hint="use 4, 8 or 16, say"
        )


def _assemble(algorithm: str, liveness: Liveness, layout: Layout, alignment: int) -> MemoryPlan:
    placements = tuple(
        Placement(b.name, POOL, layout.offsets[b.name], b.nbytes, b.first, b.last)
        for b in shortened(liveness.buffers, layout.pairs)
    )
    nbytes = max((p.offset + p.nbytes for p in placements), default=0)
    return MemoryPlan(
        algorithm=algorithm,
        pools=(Pool(POOL, nbytes, alignment),),
        placements=placements,
        in_place=tuple((pair.input, pair.output) for pair in layout.pairs),
        lower_bound=lower_bound(liveness),
        proof=layout.proof,
        by_name={p.name: p for p in placements},
    )
