"""``microgen boards``: the supported boards."""

from __future__ import annotations

import argparse

from microgen.output.console import Console, Outcome
from microgen.output.text_layout import Column, Table
from microgen.target import board as boards

HELP = "List the supported boards."


def configure(_parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """Print a row for each board."""
    sizes_of = [Column(heading, right=True) for heading in ("flash", "ram")]
    table = Table([Column("board"), Column("what it is"), Column("cpu"), *sizes_of])
    found = [boards.load(name) for name in boards.available()]
    for board in found:
        sizes = ("", "")
        if not board.is_host:
            sizes = tuple(f"{board.memory(m).length:,}" for m in (board.flash, board.ram))  # type: ignore[assignment]
        table.add(board.name, board.title, board.cpu.name, *sizes)
    return Outcome({"boards": [board.to_json() for board in found]}, [table])
