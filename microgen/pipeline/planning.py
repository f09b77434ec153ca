"""The stages of a model after its partition: schedule, program, memory plan."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from microgen import frontends, lowering, planner, schedule
from microgen.codegens import selection
from microgen.errors import CapacityError, UnsupportedError
from microgen.executors import graph as executor_graph
from microgen.executors import stored
from microgen.executors.graph import ExecutorGraph
from microgen.firmware import capacity, conventions, module_blob, stack_size
from microgen.ir import text
from microgen.ir.graph import Graph
from microgen.kernels import stack
from microgen.manifest import DeadChannelsRecord
from microgen.manifest.schedule import Origin
from microgen.options import Options
from microgen.partition import Partition
from microgen.partition.external import Idle
from microgen.pipeline.partitioning import Partitioned, partitioned
from microgen.planner import pools
from microgen.program import port_buffers, workspace_io
from microgen.program.plan import MemoryPlan, Pool
from microgen.program.types import Program
from microgen.schedule import Front, Ram, Schedule, certificate, division, stacks
from microgen.schedule.stacks import StackOf
from microgen.schedule.state import RamOf
from microgen.target.board import Board

# Options that can change what schedules there are, or what memory they take.
_EXPLORED = (
    *("signature", "executor", "numerics", "planner", "alignment", "pool", "workspace_io"),
    *("output_workspace", "input_consumed", "input_headroom", "output_overlay", "input_rows"),
    *("targets", "codegen", "codegen_option", "composite", "merge_regions"),
)


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


def planned(
    model: Path,
    board: Board,
    options: Options,
    limit: int | None = None,
    given: Schedule | None = None,
) -> Part:
    """One model after the stages that each model goes through by itself. Its schedule keeps to
    ``limit`` bytes of workspace, inputs, outputs and operators' stack, if that can be; by default
    it keeps to what the board's memories and the budget leave a single model. It is the ``given``
    one if there is one."""
    options = replace(options, numerics=frontends.numerics_of(model, options.numerics))
    found = partitioned(model, board, options)
    chosen = given or _scheduled(found, board, options, limit)
    parts = chosen.partition
    program = _lowered(found, parts, board, options)
    if not options.schedule:  # a file may have what no search finds
        chosen = replace(chosen, bound=_bound(found, board, program, options))
    conventions.check(program, options)
    program, plan, executed = _executed(program, parts.graph, board, options)
    shown = text.show(found.source)
    return Part(
        *(model, options, shown, found.files, parts.graph, chosen),
        *(program, plan, executed, found.idle, found.dead_channels),
    )


def _scheduled(found: Partitioned, board: Board, options: Options, limit: int | None) -> Schedule:
    """The schedule that a file describes, or the best for the goal."""
    if options.schedule:
        given = schedule.front_file.load(options.schedule, _origin(found, board, options))
        return schedule.file.applied(given, found.partition, board.cpu)
    ram_of = _ram_of(found, board, options)
    stack_of = _stack_of(board, options)
    if limit is None:
        ports = len(found.source.inputs) + len(found.source.outputs)
        limit = capacity.buffers_limit(board, options) - stack_size.around(board, options, ports)
    return schedule.choose(found.partition, board.cpu, options.optimize, ram_of, limit, stack_of)


def _stack_of(board: Board, options: Options) -> StackOf:
    """The stack of options, where that is what will be reserved."""
    if not stack_size.is_computed(board, options):
        return stacks.unknown
    return stacks.known(stack.column(board.cpu, options.toolchain))


def offers(model: Path, board: Board, options: Options) -> list[schedule.Offer]:
    """The divisions that the model can have instead of its schedule."""
    found = partitioned(model, board, options)
    ram_of, stack_of = _ram_of(found, board, options), _stack_of(board, options)
    return list(schedule.offers(found.partition, board.cpu, ram_of, stack_of))


def explored(model: Path, board: Board, options: Options) -> Front:
    """The schedules that are best at something."""
    options = replace(options, numerics=frontends.numerics_of(model, options.numerics))
    found = partitioned(model, board, options)
    ram_of, stack_of = _ram_of(found, board, options), _stack_of(board, options)
    front = schedule.explore(found.partition, board.cpu, ram_of, stack_of)
    program = _lowered(found, front.found[0].schedule.partition, board, options)
    bound = _bound(found, board, program, options)
    return replace(front, origin=_origin(found, board, options), bound=bound)


def _bound(found: Partitioned, board: Board, program: Program, options: Options) -> int:
    """Bytes of workspace, inputs and outputs that no schedule of the searches needs less of."""
    rows, layers = division.ROWS, division.MOST_LAYERS
    is_common = options.workspace_io or options.output_overlay
    free_inputs = is_common or options.input_consumed
    free_outputs = is_common or options.uses_outputs
    free = {port.tensor for port in program.inputs if free_inputs}
    free |= {port.tensor for port in program.outputs if free_outputs}
    inputs, outputs = (
        sum(program.passed_bytes(p) for p in each) for each in (program.inputs, program.outputs)
    )
    own = (0 if free_inputs else inputs) + (0 if free_outputs else outputs)
    least = certificate.bound(found.partition, board.cpu, rows, layers, free)
    return max(least + own, 0 if is_common else inputs + outputs)


def _origin(found: Partitioned, board: Board, options: Options) -> Origin:
    """What is explored. Paths and values of code generators' options are not part of it."""
    file, *_ = found.files.values()
    usual, asked = Options().to_json(), options.to_json()
    given = {name: asked[name] for name in _EXPLORED if asked[name] != usual[name]}
    return Origin(
        model=hashlib.sha256(file).hexdigest(),
        core=board.cpu.name,
        options={name: _as_text(value) for name, value in given.items()},
    )


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _ram_of(found: Partitioned, board: Board, options: Options) -> RamOf:
    """The function that plans a candidate. One that no pool holds is as bad as can be."""

    def ram_of(parts: Partition) -> Ram:
        program = _lowered(found, parts, board, options)
        try:
            program, plan, _ = _executed(program, parts.graph, board, options)
        except CapacityError:
            return Ram(sys.maxsize, sys.maxsize)
        io_bytes = program.io_bytes
        return Ram(plan.peak + io_bytes, plan.lower_bound + io_bytes)

    return ram_of


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
    return _with_ports(program, declared, options)


def _with_ports(
    program: Program, declared: tuple[Pool, ...], options: Options
) -> tuple[MemoryPlan, Program]:
    """The plan, and the program: with tensors in the caller's buffers if that needs less.

    Raises UnsupportedError if the output cannot lie in the input's buffer.
    """
    if options.output_overlay and (len(program.inputs), len(program.outputs)) != (1, 1):
        raise UnsupportedError(
            f"the network has {len(program.inputs)} inputs and {len(program.outputs)} outputs, so "
            "it is not clear which shall be in one buffer",
            where="--output-overlay",
            hint="use --input-consumed and --output-workspace on",
        )
    found, added = port_buffers.planned(
        program,
        options.alignment,
        outputs=options.uses_outputs,
        inputs=options.input_consumed,
        overlay=options.output_overlay,
        before=options.input_headroom,
    )
    if options.output_overlay:
        return planner.plan(found, algorithm=options.planner, pools=(*declared, *added)), found
    plain = planner.plan(program, algorithm=options.planner, pools=declared)
    if not added or plain.peak <= planner.bound(found, added):
        return plain, program
    plan = planner.plan(found, algorithm=options.planner, pools=(*declared, *added))
    is_same = (plan.peak, plan.lower_bound) == (plain.peak, plain.lower_bound)
    return (plain, program) if is_same else (plan, found)


def _with_words(pool: Pool) -> Pool:
    """The pool, aligned so that it can hold scratch: kernels have words of 32 bits in it."""
    return replace(pool, alignment=max(pool.alignment, 4))
