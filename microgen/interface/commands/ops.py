"""``microgen ops``: the supported operators, from the code that implements them."""

from __future__ import annotations

import argparse

from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Column, Listing, Table
from microgen.interface.inspection import support


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--markdown", action="store_true", help="print docs/reference/supported-ops.md"
    )
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="print the header and the module of each kernel; with --markdown, crt/KERNELS.md",
    )


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Print a row for each op of the graph, then the operators of each model format; or a row for
    each kernel."""
    rows, imported = support.rows(), support.operators()
    data = {"ops": [row.to_json() for row in rows], "frontends": imported}
    if args.markdown:
        text = support.kernels_markdown() if args.kernels else support.markdown()
        return Outcome(data, [Listing(text)])
    if args.kernels:
        return Outcome(data, [_kernels()])
    headings = ("op", "dtypes", "kernels", "what it is")
    table = Table([Column(heading) for heading in headings])
    for row in rows:
        table.add(row.op, ", ".join(row.dtypes), row.how, row.about)
    lines = [f"{suffix}: {', '.join(names)}" for suffix, names in imported.items()]
    return Outcome(data, [table, "", *lines])


def _kernels() -> Table:
    table = Table([Column(heading) for heading in ("kernel", "ops", "header", "modules")])
    for row in support.kernel_rows():
        table.add(row.kernel, ", ".join(row.ops), row.header, ", ".join(row.modules))
    return table
