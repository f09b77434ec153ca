"""The memory of a model's program: its plan, and a bound that needs no plan."""

from __future__ import annotations

from dataclasses import replace

from microgen import planner
from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import Graph
from microgen.options import Options
from microgen.planner import pools
from microgen.planner.executors import graph as executor_graph
from microgen.planner.executors import stored
from microgen.planner.executors.graph import ExecutorGraph
from microgen.planner.lifetimes import Liveness
from microgen.planner.program import port_buffers
from microgen.planner.program.plan import MemoryPlan, Pool
from microgen.planner.program.types import Program
from microgen.project.firmware import module_blob
from microgen.target.board import Board

_WORDS = 4  # bytes: kernels have words of 32 bits in their scratch


def planned(
    program: Program, graph: Graph, board: Board, options: Options
) -> tuple[Program, MemoryPlan, ExecutorGraph | None]:
    """The program in the form of its executor, its plan, and the graph executor's graph.

    Raises UnsupportedError for a program that the options do not allow, and CapacityError if a
    buffer fits no pool."""
    executed = None
    if options.executor == "aot":
        plan, program = _plan(program, graph, board, options)
    else:
        stored.refuse_unsupported(program)
        executed = executor_graph.build(program)
        program = stored.stored(program, executed)
        plan = stored.plan(program, executed, board.cpu.pointer_bytes)
    return program, module_blob.with_pool(plan, program, board.cpu.pointer_bytes), executed


def bound(program: Program, board: Board, options: Options) -> int:
    """A lower bound of the bytes of workspace, inputs and outputs, for all plans of the program; 0
    for the graph executor."""
    if options.executor != "aot":
        # The graph executor is not planned by lifetimes alone.
        return 0
    forms = _forms(program, board, options)
    return min(planner.bound(form, found) + form.io_bytes for form, found in forms)


def only_form(program: Program, board: Board, options: Options) -> Program | None:
    """The form of the program, if it has one form, whose pools are its own memory."""
    if options.executor != "aot":
        return None
    (first, found), *others = _forms(program, board, options)
    return None if others or any(pool.port for pool in found) else first


def peak_of(program: Program, liveness: Liveness, options: Options) -> int | None:
    """The bytes of workspace that ``planned`` finds for a program that differs from ``program`` in
    its ``liveness``, if that is its only form; None if its buffers do not all go to one pool
    without limit."""
    if len(options.pools) != 1 or program.runtime_modules:
        return None
    (pool,) = options.pools
    if pool.capacity is not None or pool.targets or not pool.is_internal:
        return None
    has_scratch = len(liveness.buffers) > len(program.buffers)
    alignment = max(pool.alignment, _WORDS) if has_scratch else pool.alignment
    return planner.peak(liveness, options.planner, alignment)


def _plan(
    program: Program, graph: Graph, board: Board, options: Options
) -> tuple[MemoryPlan, Program]:
    """The plan, and the program with the planned parts.

    An alignment is refused if it is less than C requires for a buffer's elements.
    """
    kinds = {buffer.tensor: graph.types[buffer.tensor] for buffer in program.buffers}
    if options.workspace_io:
        kinds |= {p.tensor: p.type for p in (*program.inputs, *program.outputs)}
    buffers = {tensor: (str(kind), kind.dtype.nbytes) for tensor, kind in kinds.items()}
    constants = {c.name: (c.ctype, c.array.itemsize) for c in program.constants}
    for pool in options.pools:
        for name, (kind, nbytes) in (constants if pool.is_constant else buffers).items():
            # C requires it for the elements.
            if nbytes > pool.alignment:
                raise UnsupportedError(
                    f"an alignment of {pool.alignment} is too small for {name!r}, {kind}",
                    where=f"--pool {pool.name}" if options.pool else "--alignment",
                    hint=f"ask for at least {nbytes}",
                )
    return _best(_forms(program, board, options), options.planner)


def _forms(
    program: Program, board: Board, options: Options
) -> list[tuple[Program, tuple[Pool, ...]]]:
    """The forms of the program that may be planned, with their pools: the program itself, and with
    tensors in the caller's buffers, if some may lie there.

    Raises UnsupportedError if the output cannot lie in the input's buffer.
    """
    if options.workspace_io:
        program = port_buffers.in_workspace(program)
    declared = pools.on_host(options.pools, board.cpu.name)
    if any(call.scratch for call in program.calls):
        declared = tuple(replace(pool, alignment=max(pool.alignment, _WORDS)) for pool in declared)
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
        return [(found, (*declared, *added))]
    return [(program, declared), *([(found, (*declared, *added))] if added else [])]


def _best(
    forms: list[tuple[Program, tuple[Pool, ...]]], algorithm: str
) -> tuple[MemoryPlan, Program]:
    """The plan that needs the fewest bytes, and its form of the program. The first of equal plans
    wins."""
    (first, own), *others = forms
    plain = planner.plan(first, algorithm=algorithm, pools=own)
    for found, added in others:
        # No plan of this form can be better.
        if plain.peak <= planner.bound(found, added):
            continue
        plan = planner.plan(found, algorithm=algorithm, pools=added)
        # The first of equal plans leaves the caller's buffers alone.
        if (plan.peak, plan.lower_bound) != (plain.peak, plain.lower_bound):
            return plan, found
    return plain, first
