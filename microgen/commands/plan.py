"""``microgen plan``: the memory plan of a model or of a generated project."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from microgen import api, manifest
from microgen.commands import compiling
from microgen.firmware import capacity, ram
from microgen.firmware.ram import Ram
from microgen.inspection.plan import Planned, of_module, of_program
from microgen.output.console import Console, Outcome
from microgen.output.text_layout import Part
from microgen.target import found

HELP = "Show the memory plan of a model or of a project: peak, lower bound, gap, and each call."


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


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Plan the model, or read the project's plan, and print it."""
    return _of_project(args) if args.model.is_dir() else _of_model(args, console)


def _of_model(args: argparse.Namespace, console: Console) -> Outcome:
    board = found.find(args.board or compiling.DEFAULT_BOARD, local=True)
    with console.step("planning"):
        program, plan = api.plan(args.model, board, **compiling.selected(args))
    static = 0 if board.is_host else capacity.STATIC_DATA
    used = Ram(plan.peak, program.io_bytes, static, board.stack_bytes)
    return _shown([of_program(program, plan)], board.name, used)


def _of_project(args: argparse.Namespace) -> Outcome:
    record = manifest.load(args.model)
    compiling.refuse_planning(args)
    planned = [of_module(module) for module in record.modules]
    return _shown(planned, record.board["name"], ram.estimated(record))


def _shown(planned: Sequence[Planned], board: str, used: Ram) -> Outcome:
    modules = [one.to_json() for one in planned]
    own = modules[0] if len(modules) == 1 else {"modules": modules}
    data = {**own, "board": board, "ram": used.to_json()}
    parts: list[Part] = []
    for one in planned:
        parts += [f"{one.module}:"] if len(planned) > 1 else []
        parts += [*one.parts(), ""] if len(planned) > 1 else one.parts()
    return Outcome(data, [*parts, *used.lines(about=True)])
