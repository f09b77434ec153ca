"""The stages in order, and nothing else: the only module that knows the order."""

from __future__ import annotations

from pathlib import Path

from microgen import (
    capacity,
    codegens,
    conventions,
    frontends,
    llvm_ir,
    lowering,
    metadata,
    mlf,
    partition,
    passes,
    planner,
    pools,
    project,
    record,
    workspace_io,
)
from microgen.codegens.base import Codegen
from microgen.compiled import Compiled
from microgen.emit.model import emit, operators_alone
from microgen.emit.unit import EmitOptions, Unit
from microgen.errors import UnsupportedError
from microgen.executors import graph as executor_graph
from microgen.executors import stored
from microgen.executors.graph import ExecutorGraph
from microgen.files import MANIFEST, FileTree
from microgen.ir import text
from microgen.ir.graph import Graph
from microgen.options import Options
from microgen.partition import Partition
from microgen.program import MemoryPlan, Program
from microgen.target import board as boards
from microgen.target.board import Board


def compile_model(model: Path, board: Board, options: Options) -> Compiled:
    """Model file -> firmware project, in memory. Raises MicrogenError for anything it refuses."""
    source = _source(model, options)
    graph = passes.run(source)
    parts = partition.assign(graph, _codegens(options), board)
    program = lowering.lower(
        parts,
        codegens.registry(),
        board,
        module=options.name,
        output_names=source.outputs,
        targets=options.target_map,
    )
    conventions.check(program, options)
    program, plan, executed = _executed(program, parts.graph, board, options)
    capacity.check_regions(plan, board)
    board = capacity.placed(program, plan, board, options)
    estimate = capacity.check(program, plan, board, options)
    unit = Unit(program, plan, _emit_options(model, board, options), executed)
    library = mlf.library(
        program,
        plan,
        board,
        frontends.files(model),
        text=text.show(source),
        graph_json=executed.dumps().encode() if executed else None,
    )
    described = metadata.metadata(program, plan, options)
    if options.interface == "packed":
        library = library.merged(FileTree({metadata.path(options.name): described.dumps()}))
    headers, sources = _kernel_files(program)
    files = project.assemble(
        emit(unit).merged(library),
        module=options.name,
        inputs=program.inputs,
        outputs=program.outputs,
        has_state=bool(program.state),
        devices=program.devices,
        pools=plan.used_pools,
        board=board,
        toolchain=options.toolchain,
        interface=options.interface,
        executor=options.executor,
        kernel_headers=headers,
        kernel_sources=() if options.specialises else sources,
    )
    if options.emit:
        files = files.merged(llvm_ir.operators(operators_alone(unit), files, board))
    promise = record.manifest(
        program, plan, board, options, model=model, estimate=estimate, files=files
    )
    whole = files.merged(FileTree({MANIFEST: promise.dumps()}))
    return Compiled(graph, parts, program, plan, promise, whole, described, board.cpu.name)


def _source(model: Path, options: Options) -> Graph:
    return frontends.load(model, numerics=options.numerics, targets=options.target_map.kinds)


def _executed(
    program: Program, graph: Graph, board: Board, options: Options
) -> tuple[Program, MemoryPlan, ExecutorGraph | None]:
    """The program as its executor has it, its plan, and what the graph executor is to run."""
    if options.executor == "aot":
        plan, program = _plan(program, graph, board, options)
        return program, plan, None
    stored.refuse_unsupported(program)
    executed = executor_graph.build(program)
    program = stored.stored(program, executed)
    return program, stored.plan(program, executed, board.cpu.pointer_bytes), executed


def _emit_options(model: Path, board: Board, options: Options) -> EmitOptions:
    return EmitOptions(
        model.name,
        specialise=options.specialises,
        interface=options.interface,
        unpacked=options.is_unpacked,
        constant_alignment=options.constant_alignment,
        pointer_bytes=board.cpu.pointer_bytes,
    )


def partition_model(model: Path, board: Board, options: Options) -> Partition:
    """The first stages only: which codegen compiles which node."""
    graph = passes.run(_source(model, options))
    return partition.assign(graph, _codegens(options), board)


def plan_model(model: Path, board: Board, options: Options) -> tuple[Program, MemoryPlan]:
    """The stages up to the memory plan, whether or not the board can hold it."""
    source = _source(model, options)
    parts = partition.assign(passes.run(source), _codegens(options), board)
    program = lowering.lower(
        parts,
        codegens.registry(),
        board,
        module=options.name,
        output_names=source.outputs,
        targets=options.target_map,
    )
    program, plan, _ = _executed(program, parts.graph, board, options)
    return program, plan


def _plan(
    program: Program, graph: Graph, board: Board, options: Options
) -> tuple[MemoryPlan, Program]:
    """The plan, and the program with what is planned.

    Refused is an alignment that is less than what C demands of a buffer's elements.
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
                    f"{pool.alignment} is too small an alignment for {name!r}, {kind}",
                    where=f"--pool {pool.name}" if options.pool else "--alignment",
                    hint=f"ask for at least {nbytes}",
                )
    declared = pools.on_host(options.pools, board.cpu.name)
    return planner.plan(program, algorithm=options.planner, pools=declared), program


def load_board(name: str) -> Board:
    """The board of that name."""
    return boards.load(name)


def _codegens(options: Options) -> list[Codegen]:
    known = codegens.registry()
    unknown = [name for name in options.codegen if name not in known]
    if unknown:
        raise UnsupportedError(
            f"there is no codegen {unknown[0]!r}",
            where="--codegen",
            hint=f"codegens: {', '.join(known)}",
        )
    names = dict.fromkeys((*options.codegen, "builtin"))
    return [known[name] for name in names]


def _kernel_files(program: Program) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Headers and sources of the kernels that the program calls, sorted."""
    calls = [kernel for function in program.functions for kernel in function.body]
    return tuple(sorted({k.header for k in calls})), tuple(sorted({k.source for k in calls}))
