"""``microgen inspect``: the contents of a model, a project, a model library, an ELF or a blob."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen.base.output.console import Console, Outcome
from microgen.interface import inspection
from microgen.interface.commands import compiling
from microgen.interface.inspection import blobs


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    what = "a model, a project, a model library, an ELF or a module blob"
    add("path", metavar="FILE|DIR", type=Path, help=what)
    folder = "write each payload of module blobs to this folder"
    add("--extract", type=Path, metavar="DIR", help=folder)
    compiling.add_codegen_path(parser)
    compiling.add_reading(parser)
    add("--force", action="store_true", help="replace existing files")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Print the file's contents. The format is found from the contents, not from the name."""
    names = ("codegen_path", "signature", "dim", "bind", "max_rounds", "state")
    reading = compiling.options_of(args, *names)
    inspected = inspection.inspect(args.path, verbose=console.verbose, **reading)
    if args.extract is None:
        return Outcome(inspected.data, inspected.text)
    written = blobs.write(inspected.payloads, args.extract, force=args.force)
    text = [*inspected.text, "", *(f"wrote {path}" for path in written)]
    return Outcome({**inspected.data, "extracted": written}, text)
