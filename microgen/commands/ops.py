"""``microgen ops``: the operators there are, from the code that implements them."""

from __future__ import annotations

import argparse

from rich.table import Table

from microgen import frontends, kernels, ops
from microgen.console import Console, Outcome

HELP = "List the supported operators."


def configure(_parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def execute(_args: argparse.Namespace, _console: Console) -> Outcome:
    """A row per op of the graph, then the operators of each model format."""
    table = Table(box=None, pad_edge=False)
    for heading in ("op", "kernels, best first", "what it is"):
        table.add_column(heading)
    rows = [
        {
            "op": name,
            "kernels": [k.symbol for k in kernels.registry().get(name, ())],
            "is_view": op.is_view,
            "about": ops.about(op),
        }
        for name, op in ops.registry().items()
    ]
    for row in rows:
        free = "none: a view costs nothing"
        table.add_row(row["op"], ", ".join(row["kernels"]) or free, row["about"])  # type: ignore[arg-type]
    imported = frontends.supported()
    lines = [f"{suffix}: {', '.join(names)}" for suffix, names in imported.items()]
    from rich.console import Group

    return Outcome({"ops": rows, "frontends": imported}, Group(table, "", *lines))
