"""``microgen generate``: turn models into a firmware project."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from microgen.base.errors import BoardError, MicrogenError
from microgen.base.manifest import Manifest
from microgen.base.names import module_names
from microgen.base.output.console import Console, Outcome
from microgen.interface import api
from microgen.interface.commands import compiling
from microgen.kernels import cost
from microgen.project.firmware import dead_channels, ram
from microgen.project.firmware.compiled import Compiled, Firmware
from microgen.target import found, projects
from microgen.target.board import Board
from microgen.target.cpu import CPUS

_NAME = (
    "the module's name (default: default); for several models one name each (default: the files')"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("models", metavar="MODEL", type=Path, nargs="+", help=compiling.MODEL)
    add("-b", "--board", required=True, help=compiling.BOARD)
    add("-o", "--output", required=True, type=Path, metavar="DIR", help="the project's folder")
    compiling.add_planning(parser)
    add("--name", default="", metavar="NAME[,NAME]", help=_NAME)
    compiling.add_generating(parser)
    clock = "the CPU's clock, such as 120MHz (default: the board's clock_hz, if it has one)"
    add("--clock", type=compiling.clock, default=0, metavar="CLOCK", help=clock)
    one = "let several models use one workspace; they then run one after the other"
    add("--shared-workspace", action="store_true", help=one)
    add("--force", action="store_true", help="replace DIR, whatever it contains")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Generate the project, and print sizes and the next step."""
    board = _board(args, console)
    options = compiling.selected(args)
    asked = options.pop("name")
    names = module_names.given(asked.split(",") if asked else (), args.models)
    if len(args.models) > 1:
        return _several(args, board, names, options, console)
    return _one(args, board, names[0], options, console)


def _board(args: argparse.Namespace, console: Console) -> Board:
    """The board, with its clock. Prints a remark if the project's other commands need
    ``--board``."""
    board = found.find(args.board, local=True)
    board = replace(board, clock_hz=args.clock) if args.clock else board
    try:
        # The test that later commands make, which know only the manifest.
        projects.of_project(board.to_json())
    except BoardError:
        console.note(
            f"{board.name} names programs: build, verify and run need --board {args.board}, "
            f"or its folder's folder in {found.VARIABLE}"
        )
    return board


def _one(
    args: argparse.Namespace, board: Board, name: str, options: dict[str, Any], console: Console
) -> Outcome:
    if args.shared_workspace:
        raise MicrogenError(
            "there is only one model", where="--shared-workspace", hint="leave it out"
        )
    with console.step(f"generating {args.output}"):
        done = api.generate(
            args.models[0], board, args.output, force=args.force, name=name, **options
        )
    _note_model(done, args.models[0], console)
    _note_doubts(done, args, console)
    data = {
        "ok": True,
        "output": str(args.output),
        "module": name,
        "board": board.name,
        **_planned(done),
        **_estimated(done),
    }
    head = f"{args.output}: {_calls(done)} for {board.name}"
    memory = (*_dead(done), _text(done), *_memory(done.manifest))
    return Outcome(data, [head, *memory, _next(args, board)])


def _several(
    args: argparse.Namespace,
    board: Board,
    names: tuple[str, ...],
    options: dict[str, Any],
    console: Console,
) -> Outcome:
    models = list(zip(args.models, names, strict=True))
    with console.step(f"generating {args.output}"):
        done = api.generate_models(
            models,
            board,
            args.output,
            force=args.force,
            shared_workspace=args.shared_workspace,
            **options,
        )
    for compiled, model in zip(done.models, args.models, strict=True):
        _note_model(compiled, model, console)
    _note_doubts(done, args, console)
    common = done.manifest.shared_workspace
    data = {
        "ok": True,
        "output": str(args.output),
        "board": board.name,
        "modules": [{"module": c.program.module, **_planned(c)} for c in done.models],
        "shared_workspace": common.nbytes if common else 0,
        **_estimated(done),
    }
    head = f"{args.output}: {len(done.models)} models for {board.name}"
    lines = [
        line
        for c in done.models
        for line in (
            f"{c.program.module}: {_calls(c)}; {_text(c)}",
            *(f"{c.program.module}: {dead}" for dead in _dead(c)),
        )
    ]
    tail = [*_shared(done), *_memory(done.manifest), _next(args, board)]
    return Outcome(data, [head, *lines, *tail])


def _note_model(done: Compiled, model: Path, console: Console) -> None:
    for note in (*done.graph.notes, *(done.graph.details if console.verbose else ())):
        console.note(f"{model.name}: {note}")
    for generator in done.idle:
        console.note(f"{model.name}: {generator}")


def _note_doubts(done: Compiled | Firmware, args: argparse.Namespace, console: Console) -> None:
    for doubt in done.doubts:
        console.note(f"{doubt}; to measure it, build, then run `microgen verify {args.output}`")
    if stands := _stands(done):
        console.note(stands)


def _stands(done: Compiled | Firmware) -> str:
    """A sentence that names the core by whose costs kernels were chosen, if the board has another
    core."""
    return cost.said(CPUS[done.manifest.board["cpu"]])


def _estimated(done: Compiled | Firmware) -> dict[str, Any]:
    """The estimates in bytes; ``most`` is None if no upper bound is known."""
    sizes = done.manifest.estimate
    estimate = {name: getattr(sizes, name) for name in ("flash", "ram", "flash_least", "ram_least")}
    estimate |= {name: getattr(sizes, name) or None for name in ("flash_most", "ram_most")}
    used = ram.estimated(done.manifest)
    return {
        "estimate": estimate,
        "may_not_fit": list(done.doubts),
        "ram": used.to_json(),
        "stands": _stands(done) or None,
    }


def _planned(done: Compiled) -> dict[str, Any]:
    plan = done.manifest.plan
    return {
        "calls": len(done.program.calls),
        "functions": len(done.program.functions),
        "arena": plan.peak + plan.io_bytes,
        "workspace": plan.peak,
        "lower_bound": plan.lower_bound,
        "dead_channels": dead_channels.saved(done.manifest).to_json(),
        "notes": list(done.graph.notes),
        "idle_codegens": [{"codegen": i.name, "reasons": list(i.reasons)} for i in done.idle],
    }


def _calls(done: Compiled) -> str:
    return f"{len(done.program.calls)} calls of {len(done.program.functions)} functions"


def _text(done: Compiled) -> str:
    plan = done.manifest.plan
    return f"workspace {plan.peak:,} bytes, {plan.proof}"


def _dead(done: Compiled) -> tuple[str, ...]:
    return dead_channels.saved(done.manifest).lines


def _memory(record: Manifest) -> list[str]:
    return [
        *ram.estimated(record).lines(about=True),
        f"flash: about {record.estimate.flash:,} bytes",
    ]


def _shared(done: Firmware) -> list[str]:
    common = done.manifest.shared_workspace
    if common is None:
        return []
    apart = [c.program.module for c in done.models if c.program.module not in common.modules]
    exception = (
        f"; {', '.join(apart)} {'has' if len(apart) == 1 else 'have'} its own" if apart else ""
    )
    return [f"one workspace of {common.nbytes:,} bytes for {', '.join(common.modules)}{exception}"]


def _next(args: argparse.Namespace, board: Board) -> str:
    if board.component:
        return f"next: microgen export {args.output} --as {board.component} -o OUT"
    return f"next: microgen build {args.output}"
