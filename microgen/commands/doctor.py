"""``microgen doctor``: what is installed, and what to type for what is not."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from microgen.console import Console, Outcome
from microgen.text_layout import Column, Table

HELP = "Show which tools are installed, and how to install the others."


def configure(_parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """A row per tool; exit 2 if one that is not optional is missing."""
    from microgen.doctor import doctor

    found = doctor()
    table = Table([Column(name) for name in ("tool", "found", "needed for", "to install")])
    for tool in found:
        table.add(tool.name, tool.found or "missing", tool.needed_for, tool.install)
    lacking = any(not tool.found and "optional" not in tool.needed_for for tool in found)
    return Outcome(
        {"tools": [asdict(tool) for tool in found]}, [table], exit_code=2 if lacking else 0
    )
