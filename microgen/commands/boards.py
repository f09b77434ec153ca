"""``microgen boards``: the boards there are."""

from __future__ import annotations

import argparse

from rich.table import Table

from microgen.console import Console, Outcome
from microgen.target import board as boards

HELP = "List the boards."


def configure(_parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """A row per board."""
    table = Table(box=None, pad_edge=False)
    for heading in ("board", "what it is", "cpu", "flash", "ram"):
        table.add_column(heading, justify="right" if heading in ("flash", "ram") else "left")
    found = [boards.load(name) for name in boards.available()]
    for board in found:
        sizes = ("", "")
        if not board.is_host:
            sizes = tuple(f"{board.memory(m).length:,}" for m in (board.flash, board.ram))  # type: ignore[assignment]
        table.add_row(board.name, board.title, board.cpu.name, *sizes)
    return Outcome([board.to_json() for board in found], table)
