"""The stages of a model after its partition: schedule, program, memory plan."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from microgen import lowering, planner, schedule
from microgen.codegens import selection
from microgen.errors import CapacityError, UnsupportedError
from microgen.executors import graph as executor_graph
from microgen.executors import stored
from microgen.executors.graph import ExecutorGraph
from microgen.firmware import capacity, conventions, module_blob
from microgen.ir import text
from microgen.ir.graph import Graph
from microgen.manifest import DeadChannelsRecord
from microgen.options import Options
from microgen.partition import Partition
from microgen.partition.external import Idle
from microgen.pipeline.partitioning import Partitioned, partitioned
from microgen.planner import pools
from microgen.program import workspace_io
from microgen.program.plan import MemoryPlan, Pool
from microgen.program.types import Program
from microgen.schedule import Front, Ram, Schedule
from microgen.schedule.state import RamOf
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class Part:
    """One model after its own stages. ``text`` is its network as the frontend read it. ``files``
    are the model's files that the project keeps, by suffix, first the model's own."""

    model: Path
    options: Options
    text: str
    files: Mapping[str, bytes]
    graph: Graph
    schedule: Schedule
    program: Program
    plan: MemoryPlan
    executed: ExecutorGraph | None
    idle: tuple[Idle, ...]
    dead_channels: tuple[DeadChannelsRecord, ...]


def planned(model: Path, board: Board, options: Options, *, is_alone: bool = True) -> Part:
    """One model after the stages that each model goes through by itself. If it ``is_alone``, its
    schedule keeps to the board's memories and the budget."""
    found = partitioned(model, board, options)
    chosen = _scheduled(found, board, options, is_alone=is_alone)
    parts = chosen.partition
    program = _lowered(found, parts, board, options)
    conventions.check(program, options)
    program, plan, executed = _executed(program, parts.graph, board, options)
    shown = text.show(found.source)
    return Part(
        *(model, options, shown, found.files, parts.graph, chosen),
        *(program, plan, executed, found.idle, found.dead_channels),
    )


def _scheduled(found: Partitioned, board: Board, options: Options, *, is_alone: bool) -> Schedule:
    """The schedule that a file describes, or the best for the goal."""
    if options.schedule:
        given = schedule.file.load(Path(options.schedule))
        return schedule.file.applied(given, found.partition, board.cpu)
    ram_of = _ram_of(found, board, options)
    limit = capacity.buffers_limit(board, options) if is_alone else sys.maxsize
    return schedule.choose(found.partition, board.cpu, options.optimize, ram_of, limit)


def explored(model: Path, board: Board, options: Options) -> Front:
    """The schedules that are best at something."""
    found = partitioned(model, board, options)
    return schedule.explore(found.partition, board.cpu, _ram_of(found, board, options))


def _ram_of(found: Partitioned, board: Board, options: Options) -> RamOf:
    """The function that plans a candidate. One that no pool holds is as bad as can be."""

    def ram_of(parts: Partition) -> Ram:
        program = _lowered(found, parts, board, options)
        try:
            program, plan, _ = _executed(program, parts.graph, board, options)
        except CapacityError:
            return Ram(sys.maxsize, sys.maxsize)
        io_bytes = program.io_bytes
        return Ram(plan.peak + io_bytes, plan.lower_bound + io_bytes, _free(program, plan))

    return ram_of


def _free(program: Program, plan: MemoryPlan) -> Mapping[str, int]:
    """The bytes of the plan's peak that no buffer takes while a call reads or writes."""
    changes = [0] * (2 * len(program.calls) + 3)  # a buffer may be live after the last call
    for place in plan.placements:
        changes[place.first] += place.nbytes
        changes[place.last + 1] -= place.nbytes
    live = list(itertools.accumulate(changes))
    return {
        call.steps[-1].tensor: plan.peak - max(live[2 * k : 2 * k + 2])
        for k, call in enumerate(program.calls)
    }


def _lowered(found: Partitioned, parts: Partition, board: Board, options: Options) -> Program:
    generators = selection.external(found.codegens)
    return lowering.lower(
        parts,
        found.codegens,
        board,
        module=options.name,
        output_names=found.source.outputs,
        output_aliases=found.source.output_aliases,
        targets=options.target_map.with_generators(
            {generator.name: generator.needs_device_api for generator in generators}
        ),
    )


def _executed(
    program: Program, graph: Graph, board: Board, options: Options
) -> tuple[Program, MemoryPlan, ExecutorGraph | None]:
    """The program in the form of its executor, its plan, and the graph executor's graph."""
    if options.executor == "aot":
        plan, program = _plan(program, graph, board, options)
        return program, module_blob.with_pool(plan, program, board.cpu.pointer_bytes), None
    stored.refuse_unsupported(program)
    executed = executor_graph.build(program)
    program = stored.stored(program, executed)
    plan = stored.plan(program, executed, board.cpu.pointer_bytes)
    return program, module_blob.with_pool(plan, program, board.cpu.pointer_bytes), executed


def _plan(
    program: Program, graph: Graph, board: Board, options: Options
) -> tuple[MemoryPlan, Program]:
    """The plan, and the program with the planned parts.

    An alignment is refused if it is less than C requires for a buffer's elements.
    """
    kinds = {buffer.tensor: graph.types[buffer.tensor] for buffer in program.buffers}
    if options.workspace_io:
        program = workspace_io.planned(program)
        kinds |= {p.tensor: p.type for p in (*program.inputs, *program.outputs)}
    buffers = {tensor: (str(kind), kind.dtype.nbytes) for tensor, kind in kinds.items()}
    constants = {c.name: (c.ctype, c.array.itemsize) for c in program.constants}
    for pool in options.pools:
        for name, (kind, nbytes) in (constants if pool.is_constant else buffers).items():
            if nbytes > pool.alignment:
                raise UnsupportedError(
                    f"an alignment of {pool.alignment} is too small for {name!r}, {kind}",
                    where=f"--pool {pool.name}" if options.pool else "--alignment",
                    hint=f"ask for at least {nbytes}",
                )
    declared = pools.on_host(options.pools, board.cpu.name)
    if any(call.scratch for call in program.calls):
        declared = tuple(_with_words(pool) for pool in declared)
    return planner.plan(program, algorithm=options.planner, pools=declared), program


def _with_words(pool: Pool) -> Pool:
    """The pool, aligned so that it can hold scratch: kernels have words of 32 bits in it."""
    return replace(pool, alignment=max(pool.alignment, 4))
