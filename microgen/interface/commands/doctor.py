"""``microgen doctor``: which tools are installed, and how to install the others."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Column, Table


def configure(_parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """Print a row for each tool; exit 1 if one that is not optional is missing."""
    from microgen.building.doctor import doctor

    tools = doctor()
    table = Table([Column(name) for name in ("tool", "found", "needed for", "to install")])
    for tool in tools:
        needed_for = tool.needed_for if tool.required else f"{tool.needed_for} (optional)"
        table.add(tool.name, tool.found or "missing", needed_for, tool.install)
    lacking = any(tool.required and not tool.found for tool in tools)
    data = {"tools": [asdict(tool) for tool in tools]}
    return Outcome(data, [table], exit_code=1 if lacking else 0)
