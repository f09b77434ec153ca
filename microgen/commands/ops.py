"""``microgen ops``: the operators there are, from the code that implements them."""

from __future__ import annotations

import argparse

from rich.console import Group
from rich.table import Table

from microgen import support
from microgen.console import Console, Outcome

HELP = "List the supported operators."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--markdown", action="store_true", help="the text of docs/supported-ops.md")


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """A row per op of the graph, then the operators of each model format."""
    rows, imported = support.rows(), support.operators()
    data = {"ops": [row.to_json() for row in rows], "frontends": imported}
    if args.markdown:
        return Outcome(data, support.markdown())
    table = Table(box=None, pad_edge=False)
    for heading in ("op", "dtypes", "kernels, best first", "what it is"):
        table.add_column(heading)
    for row in rows:
        table.add_row(row.op, ", ".join(row.dtypes), row.how, row.about)
    lines = [f"{suffix}: {', '.join(names)}" for suffix, names in imported.items()]
    return Outcome(data, Group(table, "", *lines))
