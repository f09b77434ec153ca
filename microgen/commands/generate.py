"""``microgen generate``: a model becomes a firmware project."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen import api
from microgen.commands import compiling
from microgen.console import Console, Outcome

HELP = "Generate a firmware project from a model."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    compiling.add_model(parser)
    parser.add_argument("-b", "--board", required=True, help="see `microgen boards`")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="DIR")
    compiling.add_planning(parser)
    compiling.add_generating(parser)
    parser.add_argument("--force", action="store_true", help="replace DIR whatever it holds")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Generate, and say what was planned."""
    options = compiling.selected(args)
    with console.step(f"generating {args.output}"):
        done = api.generate(args.model, args.board, args.output, force=args.force, **options)
    plan, estimate = done.manifest.plan, done.manifest.estimate
    data = {
        "ok": True,
        "output": str(args.output),
        "module": done.program.module,
        "board": args.board,
        "calls": len(done.program.calls),
        "functions": len(done.program.functions),
        "arena": plan.peak + plan.io_bytes,
        "workspace": plan.peak,
        "lower_bound": plan.lower_bound,
        "estimate": {"flash": estimate.flash, "ram": estimate.ram},
    }
    text = (
        f"{args.output}: {len(done.program.calls)} calls of {len(done.program.functions)} "
        f"functions for {args.board}\n"
        f"RAM: workspace {plan.peak:,} + inputs and outputs {plan.io_bytes:,} bytes; {plan.proof}\n"
        f"next: microgen build {args.output}"
    )
    return Outcome(data, text)
