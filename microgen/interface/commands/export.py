"""``microgen export``: a project's models for other firmware."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen.base.output.console import Console, Outcome
from microgen.interface import api
from microgen.project import exporting


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path, help="a generated project")
    add("-o", "--output", required=True, type=Path, metavar="OUT", help="what to write")
    add(
        "--as",
        dest="form",
        choices=tuple(exporting.FORMS),
        default="",
        metavar="FORM",
        help=f"{' | '.join(exporting.FORMS)}: a component of that build system "
        "(default: a Model Library Format archive)",
    )
    add(
        "--force",
        action="store_true",
        help="with a form that is a folder: replace OUT, whatever it contains",
    )


def execute(args: argparse.Namespace, _console: Console) -> Outcome:
    """Write the export, and print its size."""
    nbytes = api.export(args.project, args.output, args.form, force=args.force)
    data = {"ok": True, "output": str(args.output), "nbytes": nbytes}
    return Outcome(data, [f"{args.output}: {nbytes:,} bytes", *_renamed(args)])


def _renamed(args: argparse.Namespace) -> list[str]:
    """A remark if the build system wants another name for the file."""
    wanted = exporting.file_name(args.project, args.form) if args.form else ""
    if wanted in ("", args.output.name):
        return []
    return [f"tools for {args.form} want it to be called {wanted}"]
