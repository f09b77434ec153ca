"""The stages in order. This module does nothing else, and no other module knows the order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microgen import codegens, frontends, lowering, mlf, partition, passes, planner
from microgen.building import llvm_ir
from microgen.codegens import selection
from microgen.codegens.base import Codegen
from microgen.codegens.external import ExternalCodegen
from microgen.emit import shared
from microgen.emit.model import emit_common, emit_model, operators_alone
from microgen.emit.profile import profile
from microgen.emit.unit import EmitOptions, Unit
from microgen.errors import UnsupportedError
from microgen.executors import graph as executor_graph
from microgen.executors import stored
from microgen.executors.graph import ExecutorGraph
from microgen.files import FileTree
from microgen.firmware import (
    capacity,
    conventions,
    external_files,
    metadata,
    module_blob,
    notes,
    project,
    record,
)
from microgen.firmware.compiled import Compiled, Firmware
from microgen.ir import text
from microgen.ir.graph import Graph
from microgen.ir.refusal import Refusal
from microgen.manifest import Manifest
from microgen.names import module_names
from microgen.ops import budget
from microgen.options import Options
from microgen.partition import Partition, external
from microgen.partition.external import Idle
from microgen.partition.relay_module import PartitionedModule
from microgen.planner import pools
from microgen.program import workspace_io
from microgen.program.combined import combined
from microgen.program.kernel_code import KernelCode
from microgen.program.types import MemoryPlan, Program
from microgen.target import found as boards
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class _Part:
    """One model after its own stages. ``text`` is its network as the frontend read it. ``files``
    are the model's files that the project keeps, by suffix, first the model's own."""

    model: Path
    options: Options
    text: str
    files: Mapping[str, bytes]
    graph: Graph
    partition: Partition
    program: Program
    plan: MemoryPlan
    executed: ExecutorGraph | None
    idle: tuple[Idle, ...]


def compile_model(model: Path, board: Board, options: Options) -> Compiled:
    """Model file -> firmware project, in memory. Raises MicrogenError for anything it refuses."""
    (compiled,) = compile_models([(model, options)], board).models
    return compiled


def compile_models(
    models: Sequence[tuple[Path, Options]], board: Board, *, shared_workspace: bool = False
) -> Firmware:
    """Model files, each with its options -> one firmware project. The options may differ only in
    ``name``. Raises MicrogenError for anything it refuses."""
    options = models[0][1]
    module_names.distinct([own.name for _, own in models])
    parts = [_part(model, board, own) for model, own in models]
    sharing = _sharing(parts) if shared_workspace else ()
    program, plan = combined([(part.program, part.plan) for part in parts], sharing)
    for part in parts:
        capacity.check_regions(part.plan, board)
    stored = sum(len(_graph_json(part.executed) or b"") for part in parts)
    whole = capacity.Firmware(program, plan, options, len(parts), stored)
    board = capacity.placed(whole, board)
    estimate = capacity.check(whole, board)
    units = [_unit(part, board, sharing, several=len(parts) > 1) for part in parts]
    files = _assembled(parts, units, board)
    promise = record.manifest(
        [
            record.module(
                *(unit, board, part.options),
                model=part.model.name,
                suffix=next(iter(part.files)),
                files=files,
            )
            for part, unit in zip(parts, units, strict=True)
        ],
        board,
        estimate=estimate.record,
        files=files,
        shared=shared.shared(units),
    )
    promise, files = notes.complete(promise, files)
    compiled = [
        _compiled(part, promise.seen_from(own), files, board, estimate.doubts)
        for part, own in zip(parts, promise.modules, strict=True)
    ]
    return Firmware(tuple(compiled), promise, files, estimate.doubts)


def _part(model: Path, board: Board, options: Options) -> _Part:
    """One model after the stages that each model goes through by itself."""
    found = partitioned(model, board, options)
    parts, generators = found.partition, selection.external(found.codegens)
    program = lowering.lower(
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
    conventions.check(program, options)
    program, plan, executed = _executed(program, parts.graph, board, options)
    shown = text.show(found.source)
    return _Part(
        *(model, options, shown, found.files, parts.graph, parts),
        *(program, plan, executed, found.idle),
    )


def _sharing(parts: Sequence[_Part]) -> tuple[str, ...]:
    """The modules that can share one workspace. A module that keeps something from one run to the
    next, a state or loaded modules, has its own."""
    able = [
        part.options.name
        for part in parts
        if part.plan.peak and not (part.program.state or part.program.runtime_modules)
    ]
    options = parts[0].options
    if options.executor == "graph":
        why = "the graph executor keeps its tables in its memory from one run to the next"
    elif options.pool:
        why = "with --pool the caller decides which memory models share, so none is planned"
    elif options.workspace_io:
        why = "inputs and outputs in the workspace must be kept after a model's run"
    elif len(able) < 2:
        kept = [part.options.name for part in parts if part.options.name not in able]
        names = ", ".join(kept) or "none"
        why = f"no two models can share one; without a workspace, or with a state: {names}"
    else:
        return tuple(able)
    raise UnsupportedError(why, where="--shared-workspace", hint="leave it out")


def _unit(part: _Part, board: Board, sharing: Sequence[str], *, several: bool) -> Unit:
    options = _emit_options(part.model, board, part.options, several=several)
    is_sharing = part.options.name in sharing
    blob = module_blob.blob_of(part.program)
    return Unit(part.program, part.plan, options, part.executed, is_sharing, blob)


def _assembled(parts: Sequence[_Part], units: Sequence[Unit], board: Board) -> FileTree:
    """The whole project without its manifest."""
    options = parts[0].options
    own = {
        part.options.name: emit_model(unit).merged(_library(part))
        for part, unit in zip(parts, units, strict=True)
    }
    functions = {p.options.name: [f.name for f in p.program.functions] for p in parts}
    module_names.apart(own, functions)
    files = emit_common(units).merged(_described(parts, board))
    codegen_files = external_files.files(p.program for p in parts)
    for tree in (*own.values(), codegen_files):
        files = files.merged(tree)
    files = project.assemble(
        files,
        [_project_model(part, unit) for part, unit in zip(parts, units, strict=True)],
        board=board,
        toolchain=options.toolchain,
        interface=options.interface,
        executor=options.executor,
        include_dirs=external_files.include_dirs(p.program for p in parts),
    ).merged(profile(units))
    if options.emit:
        alone = {name: data for unit in units for name, data in operators_alone(unit).items()}
        files = files.merged(llvm_ir.operators(alone, files, board))
    return files


def _library(part: _Part) -> FileTree:
    """The model's files of the Model Library Format."""
    files = mlf.library(
        part.program,
        part.files,
        text=part.text,
        graph_json=_graph_json(part.executed),
    )
    if part.options.interface != "packed":
        return files
    described = metadata.metadata(part.program, part.plan, part.options)
    return files.merged(FileTree({metadata.path(part.options.name): described.dumps()}))


def _described(parts: Sequence[_Part], board: Board) -> FileTree:
    records = {
        part.options.name: mlf.metadata.module(
            part.program,
            part.plan,
            board,
            graph_json=_graph_json(part.executed),
            device_types={t.kind: t.device_type for t in part.options.target_map},
        )
        for part in parts
    }
    return mlf.described(records)


def _graph_json(executed: ExecutorGraph | None) -> bytes | None:
    return executed.dumps().encode() if executed else None


def _project_model(part: _Part, unit: Unit) -> project.Model:
    return project.Model(
        module=part.options.name,
        inputs=part.program.inputs,
        outputs=part.program.outputs,
        has_state=bool(part.program.state),
        has_modules=bool(part.program.runtime_modules),
        devices=part.program.devices,
        pools=part.plan.used_pools,
        shares_workspace=unit.shares_workspace,
        kernels=_kernels(part.program),
        shares_kernels=not part.options.specialises,
        operators=tuple(unit.implementation(f.name) for f in part.program.functions),
    )


def _compiled(
    part: _Part, promise: Manifest, files: FileTree, board: Board, doubts: tuple[str, ...]
) -> Compiled:
    described = metadata.metadata(part.program, part.plan, part.options)
    return Compiled(
        *(part.graph, part.partition, part.program, part.plan),
        *(promise, files, described, board.cpu.name),
        part.idle,
        doubts,
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


def _emit_options(model: Path, board: Board, options: Options, *, several: bool) -> EmitOptions:
    return EmitOptions(
        model.name,
        specialise=options.specialises,
        interface=options.interface,
        unpacked=options.is_unpacked,
        constant_alignment=options.constant_alignment,
        pointer_bytes=board.cpu.pointer_bytes,
        blob_prefix=f"tvmgen_{options.name}_" if several else "",
    )


@dataclass(frozen=True, slots=True)
class Partitioned:
    """The first stages of a model: which codegen compiles which node.

    ``source`` is the graph from the frontend, ``files`` are the model's files that the project
    keeps. ``module``: the Relay module, step by step, if external generators partitioned one.
    ``refusals``: why these generators refused parts of it; ``idle``: the generators that took
    nothing.
    """

    codegens: Mapping[str, Codegen]
    source: Graph
    files: Mapping[str, bytes]
    partition: Partition
    module: PartitionedModule | None = None
    refusals: tuple[Refusal[Any], ...] = ()
    idle: tuple[Idle, ...] = ()


@budget.of_model()
def partitioned(model: Path, board: Board, options: Options) -> Partitioned:
    """The stages up to the partition."""
    found = selection.chosen(options.codegen, options.codegen_option, _known(options))
    generators = selection.external(found)
    source, files, module = _source(model, options, generators)
    graph = passes.run(source)
    refusals: tuple[Refusal[Any], ...] = external.refusals_of(module, model.name)
    # Generators that take Relay have already seen a Relay model in its original form.
    asked = [generator for generator in generators if generator.takes_nodes or module is None]
    graph, more = external.partition_graph(
        graph, asked, board, name=options.name, **_partitioning(options)
    )
    refusals = (*refusals, *more)
    parts = partition.assign(graph, list(found.values()), board)
    took = {region.codegen for region in parts.regions}
    idle = external.idle(generators, took, refusals, composite=options.composite)
    return Partitioned(found, source, files, parts, module, refusals, idle)


def _partitioning(options: Options) -> dict[str, bool]:
    return {"composite": options.composite, "merge_regions": options.merge_regions}


def _source(
    model: Path, options: Options, generators: Sequence[ExternalCodegen]
) -> tuple[Graph, Mapping[str, bytes], PartitionedModule | None]:
    """The graph, the model's files, and, if generators partition it as Relay, its module."""
    kinds = options.target_map.kinds
    frontends.check_signature(model, options.signature)
    relay = frontends.relay_module(model) if generators else None
    if relay is None:
        graph = frontends.load(
            model, numerics=options.numerics, targets=kinds, signature=options.signature
        )
        return graph, frontends.files(model), None
    module = external.partition_module(
        relay,
        generators,
        name=options.name,
        **_partitioning(options),
    )
    names = [generator.name for generator in generators]
    graph, files = frontends.partitioned(model, module.module, targets=kinds, generators=names)
    return graph, files, module


def _known(options: Options) -> Mapping[str, Codegen]:
    return codegens.registry(*map(Path, filter(None, [options.codegen_path])))


def plan_model(model: Path, board: Board, options: Options) -> tuple[Program, MemoryPlan]:
    """The stages up to the memory plan, whether or not the board can hold it."""
    part = _part(model, board, options)
    return part.program, part.plan


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
    return planner.plan(program, algorithm=options.planner, pools=declared), program


def load_board(board: str | Path | Board) -> Board:
    """The board with that name, or at the path of its folder or its ``board.yml``."""
    return board if isinstance(board, Board) else boards.find(board)


def _kernels(program: Program) -> tuple[KernelCode, ...]:
    """The kernels that the program calls, sorted."""
    return tuple(sorted({k.code for function in program.functions for k in function.body}))
