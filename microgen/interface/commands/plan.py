"""``microgen plan``: the memory plan of a model or of a generated project."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import MicrogenError
from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Part
from microgen.compiler.schedule import Front, front_file
from microgen.compiler.schedule.front import write
from microgen.interface import api
from microgen.interface.commands import compiling
from microgen.interface.inspection import front
from microgen.interface.inspection.plan import ShownPlan, of_module, of_program
from microgen.kernels import cost
from microgen.options import Options
from microgen.planner.program.ram import Ram
from microgen.project.firmware import ram, stack_size
from microgen.target import found
from microgen.target.cpu import CPUS


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "model",
        metavar="MODEL|DIR",
        type=Path,
        help=f"{compiling.MODEL}, or a generated project",
    )
    default = f"(default {compiling.DEFAULT_BOARD})"
    parser.add_argument("-b", "--board", help=f"for a model: {compiling.BOARD} {default}")
    compiling.add_planning(parser)
    explore = "show the schedules that no other beats in RAM, cycles and flash at once"
    parser.add_argument("--explore", action="store_true", help=explore)
    output = "with --explore: the file for the front, or the folder for a file of each schedule"
    parser.add_argument("-o", "--output", type=Path, metavar="FRONT.json|DIR", help=output)
    clock = "with --explore: the CPU's clock, such as 120MHz (default: the board's clock_hz)"
    parser.add_argument("--clock", type=compiling.clock, default=0, metavar="CLOCK", help=clock)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Plan the model, or read the project's plan, and print it."""
    _check(args)
    if args.explore:
        return _explored(args, console)
    return _of_project(args) if args.model.is_dir() else _of_model(args, console)


def _check(args: argparse.Namespace) -> None:
    """Raise MicrogenError for options that would have no effect."""
    if args.explore and args.model.is_dir():
        raise MicrogenError(
            "a project's schedule is chosen already",
            where="--explore",
            hint="give the model instead of the project",
        )
    if args.explore and args.schedule:
        raise MicrogenError(
            "leaves nothing to explore", where="--schedule", hint="leave it or --explore out"
        )
    for flag, value in (("--output", args.output), ("--clock", args.clock)):
        if value and not args.explore:
            raise MicrogenError("is for --explore only", where=flag, hint="add --explore")


def _explored(args: argparse.Namespace, console: Console) -> Outcome:
    board = found.find(args.board or compiling.DEFAULT_BOARD, local=True)
    with console.step("exploring schedules"):
        explored = api.explore(args.model, board, **compiling.selected(args))
    wrote = _written(explored, args.output) if args.output else []
    estimated = front.Estimated.on_board(board, args.clock)
    data = {**front.to_json(explored, estimated), "board": board.name}
    return Outcome(data, [*front.parts(explored, estimated), *wrote])


def _written(explored: Front, output: Path) -> list[str]:
    """Write the front to a file, or each of its schedules to a file of a folder; return the text to
    print."""
    count = len(explored.found)
    # A folder may have any name, even a name with the suffix.
    if output.suffix != front_file.SUFFIX or output.is_dir():
        write(explored, output)
        return [f"wrote {count} schedules to {output}"]
    front_file.write(explored, output)
    return [f"wrote {count} schedules to {output}: take one with --schedule {output}#K"]


def _of_model(args: argparse.Namespace, console: Console) -> Outcome:
    board = found.find(args.board or compiling.DEFAULT_BOARD, local=True)
    with console.step("planning"):
        program, plan, schedule = api.plan(args.model, board, **compiling.selected(args))
    stack = stack_size.of([program], board, Options(**compiling.selected(args)))
    used = ram.of_firmware(Ram(plan.peak, program.io_bytes), stack, is_host=board.is_host)
    return _shown([of_program(program, plan, schedule)], board.name, used, cost.said(board.cpu))


def _of_project(args: argparse.Namespace) -> Outcome:
    record = manifest.load(args.model)
    compiling.refuse_planning(args)
    planned = [of_module(module) for module in record.modules]
    cpu = CPUS[record.board["cpu"]]
    return _shown(planned, record.board["name"], ram.estimated(record), cost.said(cpu))


def _shown(planned: Sequence[ShownPlan], board: str, used: Ram, stands: str) -> Outcome:
    modules = [one.to_json() for one in planned]
    own = modules[0] if len(modules) == 1 else {"modules": modules}
    data = {**own, "board": board, "stands": stands or None, "ram": used.to_json()}
    parts: list[Part] = []
    for one in planned:
        parts += [f"{one.module}:"] if len(planned) > 1 else []
        parts += [*one.parts(), ""] if len(planned) > 1 else one.parts()
    return Outcome(data, [*parts, *used.lines(about=True), *filter(None, [stands])])
