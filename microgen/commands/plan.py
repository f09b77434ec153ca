"""``microgen plan``: the memory plan of a model."""

from __future__ import annotations

import argparse

from microgen import api
from microgen.commands import compiling
from microgen.console import Console, Outcome
from microgen.planner.timeline import timeline

HELP = "Show a model's memory plan: peak, lower bound, gap and a timeline."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    compiling.add_model(parser)
    parser.add_argument("-b", "--board", default=compiling.DEFAULT_BOARD)
    compiling.add_planning(parser)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Plan, and draw it."""
    with console.step("planning"):
        program, plan = api.plan(args.model, args.board, **compiling.selected(args))
    io_bytes = program.io_bytes
    data = {
        "algorithm": plan.algorithm,
        "peak": plan.peak,
        "lower_bound": plan.lower_bound,
        "gap": plan.gap,
        "proof": plan.proof,
        "io_bytes": io_bytes,
        "arena": plan.peak + io_bytes,
        "buffers": [
            {
                "name": p.name,
                "offset": p.offset,
                "nbytes": p.nbytes,
                "first": p.first,
                "last": p.last,
            }
            for p in plan.placements
        ],
        "in_place": [list(pair) for pair in plan.in_place],
    }
    text = (
        f"{timeline(program, plan)}\n"
        f"workspace peak {plan.peak:,} bytes, lower bound {plan.lower_bound:,}, gap {plan.gap:,} "
        f"({plan.proof})\n"
        f"with inputs and outputs ({io_bytes:,} bytes): {plan.peak + io_bytes:,} bytes"
    )
    return Outcome(data, text)
