"""``microgen build``: compile a project."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen.base.output.console import Console, Outcome
from microgen.interface import api
from microgen.interface.commands import compiling
from microgen.target import projects


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path, help="a generated project")
    add("--sanitize", action="store_true", help="build with ASan and UBSan (native only)")
    compiling.add_given_board(parser)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Build, and print the path of the ELF."""
    with projects.given(args.board), console.step(f"building {args.project}"):
        built = api.build(args.project, sanitize=args.sanitize)
    console.detail(built.log)
    data = {"ok": True, "elf": str(built.elf), "map": str(built.map)}
    return Outcome(data, [str(built.elf), f"next: microgen verify {args.project}"])
