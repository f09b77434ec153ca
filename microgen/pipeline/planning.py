"""The stages of a model after its partition: schedule, program, memory plan."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from microgen.base.errors import CapacityError
from microgen.base.manifest.schedule import FrontOrigin
from microgen.base.output import progress
from microgen.base.pieces import digest
from microgen.compiler import lowering, schedule
from microgen.compiler.codegens import selection
from microgen.compiler.codegens.base import Codegen
from microgen.compiler.codegens.remembered import Remembered
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Front, Offer, Schedule, certificate, division, stacks
from microgen.compiler.schedule.stacks import StackOf
from microgen.compiler.schedule.state import RamOf, Worth
from microgen.graph.ir.graph import Graph
from microgen.kernels import stack
from microgen.options import Options
from microgen.pipeline import exchanges, memory
from microgen.pipeline.partitioning import Partitioned, partitioned
from microgen.planner.executors.graph import ExecutorGraph
from microgen.planner.program.plan import MemoryPlan
from microgen.planner.program.ram import Ram
from microgen.planner.program.types import Program
from microgen.project.firmware import capacity, conventions, stack_size
from microgen.project.firmware import ram as firmware_ram
from microgen.target.board import Board

# Options that can change the possible schedules or their memory.
_EXPLORED = (
    *("signature", "executor", "numerics", "planner", "alignment", "pool", "workspace_io"),
    *("output_workspace", "input_consumed", "input_headroom", "output_overlay", "input_rows"),
    *("max_rounds", "state", "targets", "codegen", "codegen_option", "composite", "merge_regions"),
)


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """One model after its own stages: after its partition, its ``graph`` with the schedule, the
    program and the memory plan."""

    partitioned: Partitioned
    graph: Graph
    schedule: Schedule
    program: Program
    plan: MemoryPlan
    executed: ExecutorGraph | None

    @property
    def model(self) -> Path:
        """The path of the model's file."""
        return self.partitioned.model

    @property
    def options(self) -> Options:
        """The options, with the profile of numerics that the model's format has by default."""
        return self.partitioned.options


def planned(model: Path, board: Board, options: Options, limit: int | None = None) -> PlannedModel:
    """One model after the stages that each model goes through by itself. If possible, its schedule
    needs at most ``limit`` bytes of workspace, inputs, outputs and operators' stack. The default
    limit is the memory that the board and the budget leave for a single model."""
    found = partitioned(model, board, options)
    return with_schedule(found, _scheduled(found, board, limit), board)


def with_schedule(found: Partitioned, chosen: Schedule, board: Board) -> PlannedModel:
    """The stages of a model that follow the choice of its schedule."""
    options, parts = found.options, chosen.partition
    with progress.stage("lower"):
        program = _lowered(found, parts, board)
    if not options.schedule:  # a file may have a schedule that no search finds
        chosen = replace(chosen, bound=_bound(found, board, program))
    conventions.check(program, options)
    with progress.stage("plan"):
        program, plan, executed = memory.planned(program, parts.graph, board, options)
    return PlannedModel(found, parts.graph, chosen, program, plan, executed)


@progress.stage("schedule")
def _scheduled(found: Partitioned, board: Board, limit: int | None) -> Schedule:
    """The schedule that a file describes, or the best for the goal."""
    options = found.options
    if options.schedule:
        given = schedule.front_file.load(options.schedule, _origin(found, board))
        return schedule.file.applied(given, found.partition, board.cpu)
    ram_of = _ram_of(found, board)
    stack_of = _stack_of(board, options)
    if limit is None:
        ports = len(found.source.inputs) + len(found.source.outputs)
        limit = capacity.ram_limit(board, options, ports)
    chosen = found.partition, board.cpu, options.optimize, ram_of, limit, stack_of
    # A budget says how much RAM may be taken.
    return schedule.choose(*chosen, spares=capacity.budget(options) == sys.maxsize)


def _stack_of(board: Board, options: Options) -> StackOf:
    """The stack of options, if the reserve is computed from it; otherwise no stack."""
    if not stack_size.is_computed(board, options):
        return stacks.unknown
    return stacks.known(stack.column(board.cpu, options.toolchain))


def offers(found: Partitioned, board: Board) -> list[Offer]:
    """The divisions that a model can have instead of its schedule."""
    ram_of, stack_of = _ram_of(found, board), _stack_of(board, found.options)
    return list(schedule.offers(found.partition, board.cpu, ram_of, stack_of))


def explored(model: Path, board: Board, options: Options) -> Front:
    """The schedules of the Pareto front."""
    found = partitioned(model, board, options)
    ram_of, stack_of = _ram_of(found, board), _stack_of(board, options)
    front = schedule.explore(found.partition, board.cpu, ram_of, stack_of)
    programs = [_lowered(found, one.schedule.partition, board) for one in front.found]
    entries = tuple(
        replace(one, ram=_in_firmware(one.ram, program, board, options))
        for one, program in zip(front.found, programs, strict=True)
    )
    bound = _bound(found, board, programs[0])
    return replace(front, found=entries, origin=_origin(found, board), bound=bound)


def _in_firmware(ram: Ram, program: Program, board: Board, options: Options) -> Ram:
    """The RAM of a schedule with static data and the stack, as ``plan`` counts it."""
    if board.is_host:
        return ram
    stack = stack_size.of([program], board, options)
    return firmware_ram.of_firmware(ram, stack, is_host=board.is_host)


@progress.stage("bound")
def _bound(found: Partitioned, board: Board, program: Program) -> int:
    """A lower bound of the bytes of workspace, inputs and outputs, for all schedules of the
    searches."""
    options = found.options
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
    # The RAM includes inputs and outputs in any case, unless options let them share memory.
    return max(least + own, 0 if is_common else inputs + outputs)


def _origin(found: Partitioned, board: Board) -> FrontOrigin:
    """The model, the core and the options to which a front belongs."""
    file, *_ = found.files.values()
    usual, asked = Options().to_json(), found.options.to_json()
    # Paths and values of code generators' options are not part of it.
    given = {name: asked[name] for name in _EXPLORED if asked[name] != usual[name]}
    return FrontOrigin(
        model=digest(file),
        core=board.cpu.name,
        options={name: _as_text(value) for name, value in given.items()},
    )


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _ram_of(found: Partitioned, board: Board) -> RamOf:
    """The function that gives a candidate's RAM. It plans the candidate only if its bound is
    small enough to be of use."""
    # The search lowers most regions many times.
    builtin = Remembered(found.codegens[BUILTIN])
    remembered: dict[str, Codegen] = {**found.codegens, BUILTIN: builtin}
    found, options = replace(found, codegens=remembered), found.options
    lowered = exchanges.LoweredCandidates(builtin, board, options)

    def ram_of(parts: Partition, worth: Worth) -> Ram:
        near = lowered.ram(parts, worth)
        if near is not None:
            return near
        program = _lowered(found, parts, board)
        lowered.add(parts, program)
        bound = memory.bound(program, board, options)
        if not worth(bound):
            return Ram(bound, least=bound, is_planned=False)
        try:
            program, plan, _ = memory.planned(program, parts.graph, board, options)
        except CapacityError:
            # No pool holds it, so its RAM counts as the largest possible.
            return Ram(sys.maxsize, least=sys.maxsize)
        io_bytes = program.io_bytes
        return Ram(plan.peak, io_bytes, least=plan.lower_bound + io_bytes)

    return ram_of


def _lowered(found: Partitioned, parts: Partition, board: Board) -> Program:
    options = found.options
    generators = selection.external(found.codegens)
    return lowering.lower(
        parts,
        found.codegens,
        board,
        module=options.name,
        output_names=found.source.outputs,
        targets=options.target_map.with_generators(
            {generator.name: generator.needs_device_api for generator in generators}
        ),
    )
