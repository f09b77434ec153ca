"""Memory planning: an offset for every storage id and scratch buffer of a program.

Planners are found by name. Each gets the same liveness and returns a layout. ``check`` verifies the
layout again, and shares no code with the planners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from microgen.base.errors import InternalError, MicrogenError
from microgen.planner import (
    check,
    constants,
    greedy,
    in_ports,
    optimal,
    parts_check,
    refusal,
    spill,
)
from microgen.planner.layout import Layout, end
from microgen.planner.lifetimes import Liveness, analyse, lower_bound, shortened
from microgen.planner.program import port_buffers
from microgen.planner.program.plan import MemoryPlan, Overlap, Placement, Pool
from microgen.planner.program.types import Buffer, Program

POOL = "global_workspace"

ALGORITHMS: dict[str, spill.Planner] = {
    "on-demand": greedy.on_demand,
    "greedy": greedy.place,
    "optimal": optimal.place,
}


def plan(
    program: Program,
    *,
    algorithm: str = "optimal",
    alignment: int = 16,
    pools: Sequence[Pool] = (),
) -> MemoryPlan:
    """Give every planned buffer of ``program`` its place in a workspace pool.

    ``pools`` are tried in order. If there are none, one pool with ``alignment`` (bytes, a power of
    two) is used. Every offset is a multiple of its pool's alignment, and a pool ends with its last
    buffer (its size is not rounded up). Constants go to the constant pools, if ``pools`` has any. A
    pool in the buffer of a port has the port's bytes, and as many bytes in front of them as the
    plan needs, at most ``before``. Other buffers are placed there only if this makes the workspace
    smaller.

    Raises MicrogenError for an unknown algorithm or an impossible alignment, CapacityError if
    something fits no pool, and InternalError if the program reads something that was never
    written, or if the independent check finds fault with the plan.
    """
    if algorithm not in ALGORITHMS:
        raise MicrogenError(
            f"there is no planner {algorithm!r}", hint=f"choose one of {', '.join(ALGORITHMS)}"
        )
    if not any(not pool.port for pool in pools):
        # The pools in ports' buffers may be too small for everything, so there is another one.
        pools = (Pool(POOL, 0, alignment), *pools)
    for unit in (pool.alignment for pool in pools):
        # A power of two has one bit, so it shares none with the number below it.
        if unit < 1 or unit & (unit - 1):
            raise MicrogenError(
                f"alignment is {unit}, expected a power of two", hint="use 4, 8 or 16, say"
            )
    made = _assemble(algorithm, program, pools)
    # Every plan is checked, not only in tests: a wrong one would corrupt tensors without any error.
    if found := [*check.problems(program, made), *parts_check.problems(program)]:
        # Three problems are enough to find a defect, and the message remains readable.
        raise InternalError("; ".join(found[:3]), where=f"memory plan ({algorithm})")
    return made


def peak(liveness: Liveness, algorithm: str, alignment: int) -> int:
    """The bytes of the workspace that ``plan`` finds for a program with this liveness, if all of
    its buffers go to one pool without limit. The plan is not checked."""
    layout = ALGORITHMS[algorithm](liveness, alignment)
    return end(layout.offsets, {b.name: b.nbytes for b in liveness.buffers})


def bound(program: Program, pools: Sequence[Pool]) -> int:
    """The least bytes of workspace, with these pools in buffers of ports."""
    return lower_bound(analyse(program), [pool.nbytes for pool in pools if pool.port])


def _assemble(algorithm: str, program: Program, pools: Sequence[Pool]) -> MemoryPlan:
    liveness = analyse(program)
    # The pools of ports come last, so zip pairs the workspace's layouts with the first pools.
    own = [pool for pool in pools if not (pool.is_constant or pool.port)]
    workspace = [*own, *(pool for pool in pools if pool.port)]
    layouts = _layouts(program, liveness, workspace, ALGORITHMS[algorithm])
    where = {
        name: (pool.name, offset)
        for pool, layout in zip(workspace, layouts, strict=True)
        for name, offset in layout.offsets.items()
    }
    # The pairs of several pools are not in the order of calls, in which the records list them.
    pairs = sorted((p for layout in layouts for p in layout.pairs), key=lambda p: p.call)
    placements = tuple(
        Placement(b.name, *where[b.name], b.nbytes, b.first, b.last)
        for b in shortened(liveness.buffers, pairs)
    )
    constant_pools, constant_places = constants.place(
        program, [pool for pool in pools if pool.is_constant]
    )
    least = lower_bound(liveness, [p.nbytes for p in workspace if p.port])
    sized = tuple(_sized(pool, program, placements) for pool in workspace)
    return MemoryPlan(
        algorithm=algorithm,
        pools=sized,
        placements=placements,
        in_place=tuple(Overlap(pair.input, pair.output, pair.lag) for pair in pairs),
        lower_bound=least,
        proof=_proof(sized, layouts, least),
        by_name={p.name: p for p in placements},
        constant_pools=constant_pools,
        constants=constant_places,
    )


def _layouts(
    program: Program, liveness: Liveness, pools: Sequence[Pool], planner: spill.Planner
) -> tuple[Layout, ...]:
    own = [pool for pool in pools if not pool.port]
    workspace = partial(_spilled, program=program, pools=own, planner=planner)
    # Without pools in ports nothing can be saved there, so one plan of the workspace is enough.
    if len(own) == len(pools):
        return workspace(liveness)
    places = port_places(program, [pool for pool in pools if pool.port])
    try:
        first, second = in_ports.place(liveness, places, planner, workspace)
    except in_ports.NoPlaceError as error:
        raise refusal.no_place(error.ports) from None
    return *first, *second


def port_places(program: Program, pools: Sequence[Pool]) -> list[in_ports.PortPlace]:
    """The pools in buffers of ports, with the buffers that may lie in each of them."""
    holding = port_buffers.holding(program, pools)
    return [
        in_ports.PortPlace(
            pool,
            frozenset(port_buffers.pinned(program, pool)),
            frozenset(name for name, numbers in holding.items() if n in numbers),
            pool.before,
        )
        for n, pool in enumerate(pools)
    ]


def _spilled(
    liveness: Liveness, *, program: Program, pools: Sequence[Pool], planner: spill.Planner
) -> tuple[Layout, ...]:
    targets = _targets(program)
    buffers = {buffer.name: buffer for buffer in program.buffers}
    allowed = {
        b.name: tuple(
            number
            for number, pool in enumerate(pools)
            if pool.allows(targets[b.name]) and _may_hold(pool, buffers.get(b.name))
        )
        for b in liveness.buffers
    }
    try:
        return spill.place(liveness, pools, allowed, planner)
    except spill.NoRoomError as missing:
        buffer = buffers.get(missing.buffer)
        tensor = buffer.tensor if buffer else "scratch memory"
        is_state = buffer is not None and buffer.is_state
        used = sorted(targets[missing.buffer])
        raise refusal.no_room(missing, tensor, used, is_state=is_state) from None


def _may_hold(pool: Pool, buffer: Buffer | None) -> bool:
    # A variable outlives a run, so it cannot lie in memory that the caller passes anew each time.
    return pool.is_internal or buffer is None or not buffer.is_state


def _targets(program: Program) -> Mapping[str, set[str]]:
    """The targets of the calls that use each planned buffer."""
    functions = {function.name: function.target for function in program.functions}
    used: dict[str, set[str]] = {buffer.name: set() for buffer in program.buffers}
    for call in program.calls:
        names = [a.name for a in call.args if a.name in used]
        names += [f"scratch_{call.index}"] if call.scratch else []
        for name in names:
            used.setdefault(name, set()).add(functions[call.function])
    return used


def _sized(pool: Pool, program: Program, placements: Sequence[Placement]) -> Pool:
    """The pool with its size: the end of its last buffer. A pool in a port's buffer has the port's
    size, and the bytes that are needed in front of it."""
    inside = {p.name: p for p in placements if p.pool == pool.name}
    if not pool.port:
        return replace(pool, nbytes=max((p.offset + p.nbytes for p in inside.values()), default=0))
    # All ports of one pool begin at one place, so any of them will do.
    before = inside[port_buffers.pinned(program, pool)[0]].offset
    nbytes = before + pool.nbytes
    return replace(pool, nbytes=nbytes, capacity=nbytes, before=before)


def _proof(pools: Sequence[Pool], layouts: Sequence[Layout], bound: int) -> str:
    """The proof of the only pool; with several pools, each pool's proof for its own buffers. Pools
    in buffers of ports have none, but they lower the bound."""
    own = [pool for pool in pools if not pool.port]
    gap = sum(pool.before if pool.port else pool.nbytes for pool in pools) - bound
    if gap and len(own) < len(pools):
        return f"chosen step by step what lies in callers' buffers: {gap} bytes above the bound"
    if len(own) == 1:
        return layouts[0].proof
    pairs = zip(own, layouts, strict=False)
    return "; ".join(f"{pool.name}: {layout.proof}" for pool, layout in pairs)
