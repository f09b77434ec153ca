"""``microgen inspect``: what is inside a model, a project, a model library or an ELF."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen import inspection
from microgen.console import Console, Outcome

HELP = "Show what is inside a model, a project, a model library or a firmware ELF."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("path", metavar="FILE|DIR", type=Path)


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Tell the kinds apart by what they are, not by their names."""
    found = inspection.inspect(args.path)
    return Outcome(found.data, found.text)
