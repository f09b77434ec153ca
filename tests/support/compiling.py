"""Takes handmade graphs through the stages after the frontend, to a project on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microgen import frontends, planner
from microgen.base.manifest import EstimateRecord
from microgen.base.manifest.schedule import ChoiceRecord, FunctionChoices, ScheduleRecord
from microgen.compiler import codegens, lowering, partition, passes, schedule
from microgen.compiler.partition import Partition
from microgen.graph.ir import text
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.kernels.fitting import fitting
from microgen.options import Options
from microgen.planner.program import port_buffers
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.ram import Ram
from microgen.planner.program.types import Program
from microgen.project.emit.model import emit
from microgen.project.emit.unit import EmitOptions, Unit
from microgen.project.firmware import notes, project, record
from microgen.target import board as boards
from microgen.target.board import Board
from microgen.tvm import mlf


def _loaded(board: str | Board) -> Board:
    return boards.load(board) if isinstance(board, str) else board


def parts_of(graph: Graph, board: str | Board) -> Partition:
    """The graph after its passes, all for the built-in kernels."""
    builtin = codegens.registry()["builtin"]
    return partition.assign(passes.run(graph), [builtin], _loaded(board))


def simplest(graph: Graph, board: str = "native") -> ScheduleRecord:
    """The schedule with the last implementation of each node. That is its plainest loop, whose
    constants are those of the model, without scratch."""
    parts = parts_of(graph, board)
    cpu = boards.load(board).cpu

    def choice(node: Node) -> ChoiceRecord:
        return ChoiceRecord(node.outputs[:1], fitting(node, parts.graph, cpu).kernels[-1].symbol)

    return ScheduleRecord(
        functions=tuple(
            FunctionChoices(region.codegen, tuple(map(choice, region.nodes)))
            for region in parts.regions
        )
    )


def program_of(
    graph: Graph,
    options: Options | None = None,
    board: str | Board = "native",
    given: ScheduleRecord | None = None,
) -> Program:
    """The program by the schedule that is given, or by the best for the options."""
    options = options or Options()
    parts = parts_of(graph, board)
    cpu = _loaded(board).cpu
    if given:
        chosen = schedule.file.applied(given, parts, cpu)
    else:
        chosen = schedule.choose(parts, cpu, options.optimize, lambda _parts, _worth: Ram())
    return lowering.lower(
        chosen.partition,
        codegens.registry(),
        _loaded(board),
        module=options.name,
        output_names=graph.outputs,
        targets=options.target_map,
    )


def _emit_options(options: Options, model: str) -> EmitOptions:
    return EmitOptions(
        model,
        interface=options.interface,
        unpacked=options.is_unpacked,
        constant_alignment=options.constant_alignment,
    )


def write_project(
    graph: Graph,
    root: Path,
    options: Options | None = None,
    on: str | Board = "native",
    given: ScheduleRecord | None = None,
) -> Program:
    """Writes a project for the graph. Its model file is a placeholder."""
    options = options or Options()
    board = _loaded(on)
    program = program_of(graph, options, board, given)
    program, plan = _planned(program, options)
    model = root.parent / f"{root.name}.tflite"
    model.write_bytes(b"a stand-in")
    unit = Unit(program, plan, _emit_options(options, model.name))
    emitted = emit(unit)
    library = mlf.library(program, frontends.files(model), text=text.show(graph)).merged(
        mlf.described({options.name: mlf.metadata.module(program, plan, board)})
    )
    files = project.assemble(
        emitted.merged(library),
        [_project_model(program, plan, options)],
        board=board,
        interface=options.interface,
        toolchain=options.toolchain,
    )
    estimate = EstimateRecord(0, 0, 0, 0)
    promise = record.manifest(
        [record.module(unit, board, options, model=model.name, suffix=model.suffix, files=files)],
        board,
        estimate=estimate,
        files=files,
    )
    notes.complete(promise, files)[1].write_to(root)
    return program


def _planned(program: Program, options: Options) -> tuple[Program, MemoryPlan]:
    program = port_buffers.in_workspace(program) if options.workspace_io else program
    program, places = port_buffers.planned(
        program,
        options.alignment,
        outputs=options.uses_outputs,
        inputs=options.input_consumed,
        overlay=options.output_overlay,
        before=options.input_headroom,
    )
    pools = (*options.pools, *places)
    return program, planner.plan(program, algorithm=options.planner, pools=pools)


def _project_model(program: Program, plan: MemoryPlan, options: Options) -> project.Model:
    return project.Model(
        module=options.name,
        inputs=program.inputs,
        outputs=program.outputs,
        has_state=bool(program.state),
        devices=program.devices,
        pools=plan.used_pools,
        kernels=program.kernels,
        shared_kernels=program.shared_kernels,
    )


def by_port(program: Program, graph: Graph, values: Mapping[str, Array]) -> dict[str, Array]:
    """Expected outputs, keyed by the names that a run gives them."""
    return {
        port.tensor: values[tensor]
        for port, tensor in zip(program.outputs, graph.outputs, strict=True)
    }
