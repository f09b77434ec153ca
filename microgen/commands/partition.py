"""``microgen partition``: which code generator compiles which node."""

from __future__ import annotations

import argparse
from typing import Any

from microgen import api
from microgen.commands import compiling
from microgen.console import Console, Outcome
from microgen.ir.text import show

HELP = "Show the partitioned graph as text."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    compiling.add_model(parser)
    parser.add_argument("-b", "--board", default=compiling.DEFAULT_BOARD)
    compiling.add_planning(parser)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Partition, and print the graph with each region's owner and each refusal."""
    with console.step("partitioning"):
        parts = api.partition(args.model, args.board, **compiling.selected(args))
    regions = [
        {
            "codegen": r.codegen,
            "nodes": [node.outputs[0] for node in r.nodes],
            "target": r.target,
            "function": r.function,
        }
        for r in parts.regions
    ]
    refusals = [
        {"by": r.by, "node": r.node.outputs[0], "op": r.node.op, "why": r.why}
        for r in parts.refusals
    ]
    lines = [show(parts.graph)]
    lines += [f"// {', '.join(r['nodes'])} -> {_owner(r)}" for r in regions]
    lines += [f"// {r['node']}: not {r['by']}: {r['why']}" for r in refusals]
    data = {"graph": show(parts.graph), "regions": regions, "refusals": refusals}
    return Outcome(data, "\n".join(lines))


def _owner(region: dict[str, Any]) -> str:
    """Who compiles a region: the codegen, where it is not the host's the target, its function."""
    parts = (region["codegen"], region["target"], region["function"])
    return " ".join(filter(None, parts))
