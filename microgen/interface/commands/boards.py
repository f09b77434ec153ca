"""``microgen boards``: the boards that are known here, and a new one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from microgen.base.errors import BoardError, UsageError
from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Column, Table
from microgen.interface.commands import compiling
from microgen.target import board as boards
from microgen.target import found, new_board
from microgen.target.board import Board
from microgen.target.cpu import CPUS
from microgen.target.new_board import NewRegion

_NEW = "write DIR/NAME/board.yml for a board of your own; needs --cpu, --flash and --ram"
_FOLDER = "for --new: the folder of boards (default boards, where `generate` looks)"
_OPTIONS = ("cpu", "flash", "ram", "stack", "clock", "output")
_NEEDED = ("cpu", "flash", "ram")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--new", metavar="NAME", help=_NEW)
    add("--cpu", metavar="CPU", help=f"for --new: {', '.join(n for n in CPUS if n != 'host')}")
    region = "SIZE@ADDRESS"
    code = "for --new: the memory for code, such as 512K@0x08000000"
    add("--flash", type=compiling.value(new_board.region), metavar=region, help=code)
    data = "for --new: the memory for data, such as 128K@0x20000000"
    add("--ram", type=compiling.value(new_board.region), metavar=region, help=data)
    stack = "for --new: bytes for the stack (default: what a model's code takes, and a margin)"
    add("--stack", type=compiling.size, metavar="BYTES", help=stack)
    add("--clock", type=compiling.clock, metavar="CLOCK", help="for --new: such as 120MHz")
    add("-o", "--output", type=Path, metavar="DIR", help=_FOLDER)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Print a row for each board, or write the new one."""
    chosen = [name for name in _OPTIONS if getattr(args, name) is not None]
    if args.new is None:
        if chosen:
            raise UsageError("is for --new only", where=_flag(chosen[0]), hint="leave it out")
        return _listed(console)
    missing = [_flag(name) for name in _NEEDED if name not in chosen]
    if missing:
        what = f"needs {', '.join(missing)}"
        hint = "--cpu cortex-m4 --flash 512K@0x08000000 --ram 128K@0x20000000 is an example"
        raise UsageError(what, where="--new", hint=hint)
    return _created(args)


def _flag(name: str) -> str:
    return f"--{name}"


def _created(args: argparse.Namespace) -> Outcome:
    flash: NewRegion = args.flash
    title = f"{args.new} ({args.cpu}, {flash.size} flash, {args.ram.size} RAM)"
    contents = new_board.text(args.cpu, flash, args.ram, args.stack or 0, args.clock or 0, title)
    path, board = new_board.write(args.new, contents, args.output or found.LOCAL)
    data = {"boards": [board.to_json()], "created": str(path)}
    return Outcome(data, [str(path), f"next: microgen generate MODEL -b {path.parent} -o DIR"])


def _listed(console: Console) -> Outcome:
    """The known boards. Boards that are not installed come last. An invalid board is reported, and
    left out."""
    sizes_of = [Column(heading, right=True) for heading in ("flash", "ram")]
    table = Table([Column("board"), Column("what it is"), Column("cpu"), *sizes_of])
    listed = [boards.load(name) for name in boards.available()]
    others = dict(_elsewhere(console))
    listed += others.values()
    for board in listed:
        sizes = ("", "")
        if not board.is_host:
            sizes = tuple(f"{board.memory(m).length:,}" for m in (board.flash, board.ram))  # type: ignore[assignment]
        table.add(board.name, board.title, board.cpu.name, *sizes)
    places = [f"{board.name}: {file}" for file, board in others.items()]
    paths = {board.name: str(file) for file, board in others.items()}
    data = {"boards": [board.to_json() for board in listed], "paths": paths}
    return Outcome(data, [table, *(["", *places] if places else [])])


def _elsewhere(console: Console) -> Iterator[tuple[Path, Board]]:
    names = set()
    for file in found.files(local=True):
        try:
            board = found.at(file)
        except BoardError as error:
            console.note(str(error))
            continue
        if board.name not in names:  # the first one is taken, as in ``found.find``
            names.add(board.name)
            yield file, board
