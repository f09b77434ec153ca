"""The text of a new ``board.yml``, from a few facts that the user gives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from microgen.base.errors import BoardError
from microgen.base.formats import byte_sizes
from microgen.target import board as boards
from microgen.target import board_file
from microgen.target.board import Board

# An address has 32 bits: eight hexadecimal digits, or ten decimal ones.
_REGION = re.compile(r"([0-9A-Za-z]+)@(0[xX][0-9A-Fa-f]{1,8}|[0-9]{1,10})")
REGION = "SIZE@ADDRESS, such as 512K@0x08000000"


@dataclass(frozen=True, slots=True)
class NewRegion:
    """A memory: its size as it was written, and its address."""

    size: str
    origin: int


def region(text: str) -> NewRegion:
    """The memory that ``SIZE@ADDRESS`` describes. Raises ValueError."""
    match = _REGION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a memory: expected {REGION}")
    byte_sizes.parse(match[1])
    return NewRegion(match[1], int(match[2], 0))


def text(cpu: str, flash: NewRegion, ram: NewRegion, stack: int, clock_hz: int, title: str) -> str:
    """The file's text. ``stack`` is 0 if ``generate`` is to decide it, ``clock_hz`` if the clock is
    not known."""
    reserve = (
        f"stack_bytes: {stack} # what the linker script reserves"
        if stack
        else "# stack_bytes: 4096 # to reserve, instead of what the model's code takes and a margin"
    )
    clock = (
        f"clock_hz: {clock_hz}"
        if clock_hz
        else "# clock_hz: 120000000 # of the CPU, if it is known"
    )
    return f"""\
# Written by `microgen boards --new`. `microgen help docs/reference/boards.md` describes every key.
title: {title}
cpu: {cpu}
memories: # further ones may follow, for --pool NAME:SIZE:memory=REGION, large_constants, ...
  - {{name: flash, origin: 0x{flash.origin:08x}, length: {flash.size}, access: rx}}
  - {{name: ram, origin: 0x{ram.origin:08x}, length: {ram.size}, access: rw}}
{reserve}
{clock}
"""


def write(name: str, contents: str, folder: Path) -> tuple[Path, Board]:
    """Write ``folder/<name>/board.yml``, and return its path with the board. Raises BoardError if
    the board would not be sound, is installed, or exists."""
    path = folder / name / board_file.FILE
    board_file.check_name(name, "--new", "choose another name")
    if name in boards.available():
        raise BoardError(
            f"a board called {name} is installed", where="--new", hint="choose another name"
        )
    data = yaml.safe_load(contents)
    board_file.check(data, "--new")
    board = boards.from_dict(name, data, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(contents)
    except FileExistsError as error:
        raise BoardError(
            "exists already", where=str(path), hint="edit it, or choose another name or -o"
        ) from error
    except OSError as error:
        raise BoardError(f"cannot be written: {error.strerror}", where=str(path)) from error
    return path, board
