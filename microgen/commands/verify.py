"""``microgen verify``: prove from the ELF that the firmware is what was planned."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Group

from microgen import api
from microgen.console import Console, Outcome
from microgen.errors import ProjectError
from microgen.files import write_whole

HELP = "Check a project's ELF against its manifest, parameters and board, built first if need be."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path)
    add("--elf", type=Path, metavar="FILE", help="check this file instead of build/firmware.elf")
    add("--ram", type=int, metavar="BYTES", help="budget (default: that of generate)")
    add("--flash", type=int, metavar="BYTES", help="budget (default: that of generate)")
    add("--junit", type=Path, metavar="FILE", help="also write a JUnit XML report")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Check, print the table, exit 1 if a check failed."""
    with console.step(f"verifying {args.project}"):
        report = api.verify(args.project, elf=args.elf, ram=args.ram, flash=args.flash)
    if args.junit:
        _write(args.junit, report.to_junit())
    text = Group(report.table(), "", report.summary())
    return Outcome(report.to_json(), text, exit_code=0 if report.ok else 1)


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise ProjectError(f"cannot be written: {error.strerror}", where=str(path)) from error
