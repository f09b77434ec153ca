"""``microgen ops``: the supported operators, from the code that implements them."""

from __future__ import annotations

import argparse

from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Column, Listing, Table
from microgen.interface.inspection import support

HELP = "List the supported operators."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    page = "print docs/reference/supported-ops.md"
    parser.add_argument("--markdown", action="store_true", help=page)


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Print a row for each op of the graph, then the operators of each model format."""
    rows, imported = support.rows(), support.operators()
    data = {"ops": [row.to_json() for row in rows], "frontends": imported}
    if args.markdown:
        return Outcome(data, [Listing(support.markdown())])
    headings = ("op", "dtypes", "kernels", "what it is")
    table = Table([Column(heading) for heading in headings])
    for row in rows:
        table.add(row.op, ", ".join(row.dtypes), row.how, row.about)
    lines = [f"{suffix}: {', '.join(names)}" for suffix, names in imported.items()]
    return Outcome(data, [table, "", *lines])
