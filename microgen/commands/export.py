"""``microgen export``: a project's model library as one archive."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen import api
from microgen.output.console import Console, Outcome

HELP = "Pack a project's model as a Model Library Format archive; equal projects give equal bytes."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path, help="a generated project")
    add("-o", "--output", required=True, type=Path, metavar="X.tar", help="the archive to write")


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Pack, and print the size."""
    nbytes = api.export(args.project, args.output)
    data = {"ok": True, "output": str(args.output), "nbytes": nbytes}
    return Outcome(data, [f"{args.output}: {nbytes:,} bytes"])
