"""``microgen partition``: which code generator compiles which part of a model."""

from __future__ import annotations

import argparse
from typing import Any

from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Listing, Part
from microgen.base.printable import printable
from microgen.compiler.partition.relay_module import STEPS
from microgen.graph.ir.text import show
from microgen.interface import api
from microgen.interface.commands import compiling
from microgen.pipeline import Partitioned


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    compiling.add_model(parser)
    default = compiling.DEFAULT_BOARD
    parser.add_argument(
        "-b", "--board", default=default, help=f"{compiling.BOARD} (default {default})"
    )
    compiling.add_planning(parser)
    help_text = f"show a Relay model after this step: {' | '.join(STEPS)} (default partition)"
    parser.add_argument("--step", choices=STEPS, default="partition", help=help_text)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Partition, and print the text. A Relay model that external code generators partition is
    printed as Relay. Other models are printed as the kernel graph with the owner of each part.
    Refusals go to stderr."""
    with console.step("partitioning"):
        partitioned = api.partition(args.model, args.board, **compiling.selected(args))
    for refusal in partitioned.refusals:
        console.note(str(refusal))
    module = str(partitioned.module.steps[args.step]) if partitioned.module else None
    graph = show(partitioned.partition.graph)
    data = {
        "graph": graph,
        "module": module,
        "regions": _regions(partitioned),
        "refusals": _refusals(partitioned),
    }
    return Outcome(data, _kernel_graph(graph, partitioned) if module is None else [Listing(module)])


def _kernel_graph(graph: str, partitioned: Partitioned) -> list[Part]:
    lines = [f"// {', '.join(r['nodes'])} -> {_owner(r)}" for r in _regions(partitioned)]
    kernels = [r for r in _refusals(partitioned) if "node" in r]
    lines += [f"// {r['node']}: not {r['by']}: {r['why']}" for r in kernels]
    return [Listing(graph), *(Listing(printable(line)) for line in lines)]


def _regions(partitioned: Partitioned) -> list[dict[str, Any]]:
    return [
        {
            "codegen": r.codegen,
            "nodes": [node.outputs[0] for node in r.nodes],
            "target": r.target,
            "function": r.function,
        }
        for r in partitioned.partition.regions
    ]


def _refusals(partitioned: Partitioned) -> list[dict[str, Any]]:
    kernels = [
        {"by": r.by, "node": r.of.outputs[0], "op": r.what, "why": r.why}
        for r in partitioned.partition.refusals
    ]
    external = [
        {"by": r.by, "where": r.where, "op": r.what, "why": r.why} for r in partitioned.refusals
    ]
    return [*kernels, *external]


def _owner(region: dict[str, Any]) -> str:
    """The owner of a region: its codegen, its target unless that is the host, and its function."""
    parts = dict.fromkeys((region["codegen"], region["target"], region["function"]))
    return " ".join(filter(None, parts))
