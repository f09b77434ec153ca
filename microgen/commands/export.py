"""``microgen export``: a project's model library as one archive."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen import api
from microgen.output.console import Console, Outcome

HELP = "Pack a project's model as a Model Library Format archive, the same bytes every time."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("project", metavar="DIR", type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="X.tar")


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Pack, and print the size."""
    nbytes = api.export(args.project, args.output)
    data = {"ok": True, "output": str(args.output), "nbytes": nbytes}
    return Outcome(data, [f"{args.output}: {nbytes:,} bytes"])
