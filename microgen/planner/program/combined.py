"""Combines several programs into one that runs them in turn, to find a firmware's memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from microgen.planner.program.plan import MemoryPlan, Placement, Pool
from microgen.planner.program.types import Buffer, FirmwareConstant, Port, Program

Planned = tuple[Program, MemoryPlan]


def combined(models: Sequence[Planned], sharing: Sequence[str] = ()) -> Planned:
    """One program and its plan. Every name is preceded by the name of its module, unless there is
    only one model.

    The workspaces of the modules in ``sharing`` count once, with the size of the largest. The
    result is for estimates; nothing can be emitted from it.
    """
    if len(models) == 1:
        return models[0]
    programs = [_named(program) for program, _ in models]
    firsts = [0, *accumulate(len(program.calls) for program in programs)]
    plans = [
        _later(plan, program.module, first)
        # `firsts` has one more number, the count of all calls.
        for (program, plan), first in zip(models, firsts, strict=False)
    ]
    return _program(programs), _plan(plans, _counted(models, sharing))


def _program(programs: Sequence[Program]) -> Program:
    return replace(
        programs[0],
        inputs=tuple(port for p in programs for port in p.inputs),
        outputs=tuple(port for p in programs for port in p.outputs),
        functions=tuple(function for p in programs for function in p.functions),
        calls=tuple(call for p in programs for call in p.calls),
        buffers=tuple(buffer for p in programs for buffer in p.buffers),
        constants=tuple(constant for p in programs for constant in p.constants),
    )


def _plan(plans: Sequence[MemoryPlan], pools: tuple[Pool, ...]) -> MemoryPlan:
    placements = tuple(placement for plan in plans for placement in plan.placements)
    return replace(
        plans[0],
        pools=pools,
        placements=placements,
        # Estimates need neither pairs nor a bound of the whole.
        in_place=(),
        lower_bound=0,
        by_name={placement.name: placement for placement in placements},
    )


def _counted(models: Sequence[Planned], sharing: Sequence[str]) -> tuple[Pool, ...]:
    """The pools that take memory: of pools that share memory only the largest."""
    own = [p for m, plan in models if m.module not in sharing for p in _pools(m.module, plan)]
    shared = [p for m, plan in models if m.module in sharing for p in _pools(m.module, plan)]
    largest = max(shared, key=lambda pool: pool.nbytes, default=None)
    return (*own, largest) if largest else tuple(own)


def _pools(module: str, plan: MemoryPlan) -> tuple[Pool, ...]:
    own = [pool for pool in plan.pools if not pool.port]
    # Only the bytes in front of a port are workspace; the others are the caller's.
    own += [replace(p, port="", nbytes=p.before) for p in plan.port_pools if p.before]
    return tuple(replace(pool, name=f"{module}.{pool.name}") for pool in own)


def _named(program: Program) -> Program:
    def port(own: Port) -> Port:
        name, tensor = f"{program.module}.{own.name}", f"{program.module}.{own.tensor}"
        over = f"{program.module}.{own.over}" if own.over else ""
        return replace(own, name=name, tensor=tensor, over=over)

    def buffer(own: Buffer) -> Buffer:
        name, tensor = f"{program.module}.{own.name}", f"{program.module}.{own.tensor}"
        return replace(own, name=name, tensor=tensor)

    def constant(own: FirmwareConstant) -> FirmwareConstant:
        return replace(own, origin=f"{program.module}.{own.origin}")

    return replace(
        program,
        inputs=tuple(map(port, program.inputs)),
        outputs=tuple(map(port, program.outputs)),
        buffers=tuple(map(buffer, program.buffers)),
        constants=tuple(map(constant, program.constants)),
    )


def _later(plan: MemoryPlan, module: str, first: int) -> MemoryPlan:
    """The plan of a program whose first call is number ``first`` of the firmware."""

    def moved(own: Placement) -> Placement:
        name = f"{module}.{own.name}"
        begin, end = own.first + 2 * first, own.last + 2 * first  # a call has two half steps
        return replace(own, name=name, pool=f"{module}.{own.pool}", first=begin, last=end)

    return replace(plan, placements=tuple(map(moved, plan.workspace)))
