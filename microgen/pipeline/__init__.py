"""The stages in order: ``partitioning``, ``planning``, then here the steps for all models together.

This room does nothing else, and no other room knows the order.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from microgen.base.errors import CapacityError, UnsupportedError, UsageError
from microgen.base.files import FileTree
from microgen.base.manifest import Manifest, ModuleRecord
from microgen.base.manifest.schedule import ScheduleRecord
from microgen.base.names import module_names
from microgen.base.output import progress
from microgen.building import llvm_ir
from microgen.compiler import schedule
from microgen.graph.ir import text
from microgen.options import Options
from microgen.pipeline import advice, budget
from microgen.pipeline.partitioning import Partitioned, partitioned
from microgen.pipeline.planning import PlannedModel, explored, planned
from microgen.planner.executors.graph import ExecutorGraph
from microgen.planner.program.combined import combined
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.types import Program
from microgen.project.emit import memory as memories
from microgen.project.emit.model import emit_common, emit_model, operators_alone
from microgen.project.emit.profile import profile
from microgen.project.emit.unit import EmitOptions, Unit
from microgen.project.firmware import (
    capacity,
    external_files,
    metadata,
    module_blob,
    notes,
    project,
    record,
    stack_size,
)
from microgen.project.firmware.compiled import Compiled, Firmware
from microgen.target import found as boards
from microgen.target.board import Board
from microgen.tvm import mlf


class Planned(NamedTuple):
    """A model up to its memory plan, with the schedule that was planned."""

    program: Program
    plan: MemoryPlan
    schedule: ScheduleRecord


def compile_model(model: Path, board: Board, options: Options) -> Compiled:
    """Model file -> firmware project, in memory. Raises MicrogenError for anything it refuses."""
    (compiled,) = compile_models([(model, options)], board).models
    return compiled


def compile_models(
    models: Sequence[tuple[Path, Options]], board: Board, *, shared_workspace: bool = False
) -> Firmware:
    """Model files, each with its options -> one firmware project. The options may differ only in
    ``name``. Raises MicrogenError for anything it refuses."""
    (_, options), *_ = models
    _check([own for _, own in models])
    # Several models share the memory, so `budget.kept` judges them together afterwards.
    limit = None if len(models) == 1 else sys.maxsize
    parts = [planned(model, board, own, limit) for model, own in models]
    sharing = _sharing(parts) if shared_workspace else ()
    parts = budget.kept(parts, board, sharing)
    program, plan = combined([(part.program, part.plan) for part in parts], sharing)
    for part in parts:
        capacity.check_regions(part.plan, board)
    stored = sum(len(_graph_json(part.executed) or b"") for part in parts)
    whole = capacity.Footprint(program, plan, options, len(parts), stored, _code(parts))
    stack = stack_size.of([part.program for part in parts], board, options)
    asked = board
    board = replace(board, stack_bytes=stack.reserve, has_stack=not stack.is_computed)
    board = capacity.placed(whole, board)
    try:
        estimate = capacity.check(whole, board, stack)
    except CapacityError as error:
        raise (advice.with_fixes(error, parts[0], asked) if len(parts) == 1 else error) from None
    units = [_unit(part, board, sharing, several=len(parts) > 1) for part in parts]
    files = _assembled(parts, units, board)
    promise = record.manifest(
        [_record(part, unit, board, files) for part, unit in zip(parts, units, strict=True)],
        board,
        estimate=estimate.record,
        files=files,
        shared=memories.shared(units),
    )
    promise, files = notes.complete(promise, files)
    compiled = tuple(
        _compiled(part, promise.seen_from(own), files, board, estimate.doubts)
        for part, own in zip(parts, promise.modules, strict=True)
    )
    return Firmware(compiled, promise, files, estimate.doubts)


def _code(parts: Sequence[PlannedModel]) -> int | None:
    """The bytes of the operators' code by the costs of their kernels; None if a cost is not known.
    Functions that models share count for each."""
    scores = [part.schedule.score for part in parts]
    programs = [part.program for part in parts]
    is_foreign = any(program.external_modules or program.devices for program in programs)
    if is_foreign or any(score.unmeasured or not score.code for score in scores):
        return None
    return sum(score.code for score in scores)


def _check(options: Sequence[Options]) -> None:
    """Raise MicrogenError if options are not possible with several models."""
    if options[0].schedule and len(options) > 1:
        raise UnsupportedError(
            "a schedule is of one model", where="--schedule", hint="leave it out, or give one model"
        )
    module_names.distinct([own.name for own in options])


def _sharing(parts: Sequence[PlannedModel]) -> tuple[str, ...]:
    """The modules that can share one workspace."""
    able = [
        part.options.name
        for part in parts
        # A state and loaded modules are kept from one run to the next.
        if part.plan.peak and not (part.program.state or part.program.runtime_modules)
    ]
    options = parts[0].options
    if options.executor == "graph":
        why = "the graph executor keeps its tables in its memory from one run to the next"
    elif options.pool:
        why = "with --pool the caller decides which memory models share, so none is planned"
    elif options.input_rows:
        why = "rows of the input are kept in a model's workspace from one feeding to the next"
    elif options.workspace_io:
        why = "inputs and outputs in the workspace must be kept after a model's run"
    elif len(able) < 2:
        kept = [part.options.name for part in parts if part.options.name not in able]
        names = ", ".join(kept) or "none"
        why = f"no two models can share one; without a workspace, or with a state: {names}"
    else:
        return tuple(able)
    raise UnsupportedError(why, where="--shared-workspace", hint="leave it out")


def _unit(part: PlannedModel, board: Board, sharing: Sequence[str], *, several: bool) -> Unit:
    options = _emit_options(part.model, board, part.options, several=several)
    is_sharing = part.options.name in sharing
    blob = module_blob.blob_of(part.program)
    return Unit(part.program, part.plan, options, part.executed, is_sharing, blob)


@progress.stage("write")
def _assembled(parts: Sequence[PlannedModel], units: Sequence[Unit], board: Board) -> FileTree:
    """The whole project without its manifest."""
    options = parts[0].options
    own = {
        part.options.name: emit_model(unit).merged(_library(part))
        for part, unit in zip(parts, units, strict=True)
    }
    functions = {p.options.name: [f.name for f in p.program.functions] for p in parts}
    # Models must not overwrite each other's files, nor define one function twice.
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
        stack_margin=options.stack_margin,
    ).merged(profile(units))
    if options.emit:
        alone = {name: data for unit in units for name, data in operators_alone(unit).items()}
        files = files.merged(llvm_ir.operators(alone, files, board))
    return files


def _record(part: PlannedModel, unit: Unit, board: Board, files: FileTree) -> ModuleRecord:
    return record.module(
        *(unit, board, part.options),
        model=part.model.name,
        suffix=next(iter(part.partitioned.files)),
        files=files,
        schedule=schedule.file.record(part.schedule),
        dead_channels=part.partitioned.dead_channels,
    )


def _library(part: PlannedModel) -> FileTree:
    """The model's files of the Model Library Format."""
    files = mlf.library(
        part.program,
        part.partitioned.files,
        text=text.show(part.partitioned.source),
        graph_json=_graph_json(part.executed),
    )
    if part.options.interface != "packed":
        return files
    described = metadata.metadata(part.program, part.plan, part.options)
    return files.merged(FileTree({metadata.path(part.options.name): described.dumps()}))


def _described(parts: Sequence[PlannedModel], board: Board) -> FileTree:
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


def _project_model(part: PlannedModel, unit: Unit) -> project.Model:
    return project.Model(
        module=part.options.name,
        inputs=part.program.inputs,
        outputs=part.program.outputs,
        has_state=bool(part.program.state),
        has_modules=bool(part.program.runtime_modules),
        devices=part.program.devices,
        pools=part.plan.used_pools,
        shares_workspace=unit.shares_workspace,
        kernels=part.program.kernels,
        shared_kernels=part.program.shared_kernels,
        operators=tuple(unit.implementation(f.name) for f in part.program.functions),
        feed=part.program.feed,
    )


def _compiled(
    part: PlannedModel, promise: Manifest, files: FileTree, board: Board, doubts: tuple[str, ...]
) -> Compiled:
    described = metadata.metadata(part.program, part.plan, part.options)
    return Compiled(
        *(part.graph, part.schedule.partition, part.program, part.plan),
        *(promise, files, described, board.cpu.name),
        part.partitioned.idle,
        doubts,
    )


def _emit_options(model: Path, board: Board, options: Options, *, several: bool) -> EmitOptions:
    return EmitOptions(
        model.name,
        interface=options.interface,
        unpacked=options.is_unpacked,
        constant_alignment=options.constant_alignment,
        pointer_bytes=board.cpu.pointer_bytes,
        blob_prefix=f"tvmgen_{options.name}_" if several else "",
    )


def plan_model(model: Path, board: Board, options: Options) -> Planned:
    """The stages up to the memory plan, whether or not the board can hold it."""
    part = planned(model, board, options)
    return Planned(part.program, part.plan, schedule.file.record(part.schedule))


def load_board(board: str | Path | Board) -> Board:
    """The board with that name, or at the path of its folder or its ``board.yml``."""
    if not isinstance(board, str | Path | Board):
        what = f"is a {type(board).__name__}, expected a board's name or the path of its folder"
        raise UsageError(what, where="board", hint="`microgen boards` lists the boards")
    return board if isinstance(board, Board) else boards.find(board)


__all__ = [
    "Partitioned",
    "Planned",
    "compile_model",
    "compile_models",
    "explored",
    "load_board",
    "partitioned",
    "plan_model",
]
