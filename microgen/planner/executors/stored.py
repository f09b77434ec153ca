"""A program for the graph executor: each value's storage, and each storage's place in the pool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from microgen.base.errors import InternalError, UnsupportedError
from microgen.planner import check
from microgen.planner.executors import tables
from microgen.planner.executors.graph import Entry, ExecutorGraph
from microgen.planner.lifetimes import analyse, lower_bound
from microgen.planner.program.plan import MemoryPlan, Placement, Pool
from microgen.planner.program.types import Argument, Buffer, Program, Role, RunnerCall, Storage

POOL = "graph_pool"


def refuse_unsupported(program: Program) -> None:
    """Raise UnsupportedError for a program that the graph executor cannot run."""
    if program.state:
        names = ", ".join(repr(buffer.tensor) for buffer in program.state)
        raise UnsupportedError(
            f"the graph executor keeps no state between runs, but the model keeps {names}",
            where="--executor",
            hint="use --executor aot",
        )
    called = {function.name for function in program.functions if function.control}
    looped = [call.steps[-1].origin for call in program.calls if call.function in called]
    if looped:
        raise UnsupportedError(
            "the graph executor has no loops and branches, and this layer is one",
            where=str(looped[0]),
            hint="use --executor aot",
        )


def stored(program: Program, graph: ExecutorGraph) -> Program:
    """The program with a buffer ``sid_<storage id>`` for each storage that calls write, including
    outputs, which the executor copies to the caller. Inputs remain where the caller has them."""
    names = {entry: f"sid_{number}" for entry, number in _numbered(graph)}
    holds: dict[str, Buffer] = {}
    calls: list[RunnerCall] = []
    operators = [i for i, node in enumerate(graph.nodes) if node.is_call]
    where: dict[Argument, str] = {}
    tensors = _tensors(program)
    for call, node in zip(program.calls, operators, strict=True):
        written = [a for a, role in _roles(program, call) if role is Role.OUTPUT]
        for index, argument in enumerate(written):
            # Outputs have storages, too, because the executor copies them to the caller afterwards.
            name = where[argument] = names[node, index, 0]
            nbytes = graph.storage_bytes[int(name.removeprefix("sid_"))]
            holds.setdefault(name, Buffer(name, nbytes, tensors[argument]))
        args = tuple(_moved(argument, where) for argument in call.args)
        # Storage ids decide which tensors share bytes here, so in-place pairs have no effect.
        calls.append(replace(call, args=args, in_place=()))
    # In the order of ids, which is the order of addresses in the pool.
    buffers = tuple(holds[name] for name in sorted(holds, key=lambda n: int(n[4:])))
    return replace(program, calls=tuple(calls), buffers=buffers)


def plan(program: Program, graph: ExecutorGraph, pointer_bytes: int) -> MemoryPlan:
    """The pool: the executor's tables, then the storages in the order of their ids, then the
    operators' scratch. ``program`` must come from ``stored``."""
    spans = {b.name: b for b in analyse(program).buffers}
    first = offset = tables.table_bytes(tables.counts(graph), pointer_bytes)
    placements: list[Placement] = []
    for buffer in program.buffers:
        span = spans[buffer.name]
        placements.append(Placement(buffer.name, POOL, offset, span.nbytes, span.first, span.last))
        offset += tables.aligned(span.nbytes)
    executor_bytes = offset
    # One operator runs at a time, so the scratch of all operators begins at one offset.
    scratch = [span for name, span in spans.items() if name.startswith("scratch_")]
    placements += [
        Placement(s.name, POOL, executor_bytes, s.nbytes, s.first, s.last) for s in scratch
    ]
    end = max((p.offset + p.nbytes for p in placements), default=0)
    made = MemoryPlan(
        # The layout is fixed by TVM's executor, so no algorithm of ours chose it.
        algorithm="graph",
        pools=(Pool(POOL, end, tables.ALIGNMENT),),
        placements=tuple(placements),
        in_place=(),
        lower_bound=lower_bound(analyse(program)),
        proof=f"storage ids of the graph; the executor's own tables take {first:,} bytes",
        by_name={p.name: p for p in placements},
    )
    # The same check as for other plans: the executor's order could overlap live buffers.
    if found := check.problems(program, made):
        raise InternalError("; ".join(found[:3]), where="memory plan (graph)")
    # The executor takes whole units of the alignment, also for the last storage.
    return replace(made, pools=(Pool(POOL, max(end, executor_bytes), tables.ALIGNMENT),))


def executor_bytes(program: Program, graph: ExecutorGraph, pointer_bytes: int) -> int:
    """The bytes of the pool that the executor gets: everything but the operators' scratch."""
    tensors = sum(tables.aligned(buffer.nbytes) for buffer in program.buffers)
    return tables.table_bytes(tables.counts(graph), pointer_bytes) + tensors


def _numbered(graph: ExecutorGraph) -> Iterator[tuple[Entry, int]]:
    """Every entry with its storage id."""
    ids = iter(graph.storage_ids)
    for number, node in enumerate(graph.nodes):
        for index in range(node.outputs):
            yield (number, index, 0), next(ids)


def _roles(program: Program, call: RunnerCall) -> Iterator[tuple[Argument, Role]]:
    parameters = program.function(call.function).parameters
    roles = [p.role for p in parameters if p.role is not Role.SCRATCH]
    yield from zip(call.args, roles, strict=True)


def _moved(argument: Argument, where: dict[Argument, str]) -> Argument:
    return Argument(Storage.SID, where[argument]) if argument in where else argument


def _tensors(program: Program) -> dict[Argument, str]:
    """The model's names of buffers and outputs."""
    return {
        **{Argument(Storage.SID, b.name): b.tensor for b in program.buffers},
        **{Argument(Storage.OUTPUT, p.name): p.tensor for p in program.outputs},
    }
