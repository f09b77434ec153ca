"""``microgen verify``: check from the ELF that the firmware is what was planned."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen import api, manifest
from microgen.commands import compiling
from microgen.firmware import ram
from microgen.firmware.ram import Ram
from microgen.output import junit
from microgen.output.console import Console, Outcome
from microgen.output.text_layout import Part
from microgen.verifier import VerifyReport

HELP = "Compare a project's ELF with its manifest, parameters and board; build it first if needed."

_SCOPE = "check the whole firmware, or only the model (default: model if FILE is not the project's)"
_BUDGET = "budget, for example 12288, 12K or 1M (default: the budget given to generate)"

_SCOPES = {
    "project": "scope: project (the whole firmware)",
    "model": "scope: model (the ELF is not the project's; checks of the whole firmware are n/a)",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path, help="a generated project")
    add("--elf", type=Path, metavar="FILE", help="check this file instead of build/firmware.elf")
    add("--ram", type=compiling.size, metavar="BYTES", help=f"RAM {_BUDGET}")
    add("--flash", type=compiling.size, metavar="BYTES", help=f"flash {_BUDGET}")
    add("--scope", choices=("project", "model"), help=_SCOPE)
    compiling.add_codegen_path(parser)
    add("--junit", type=Path, metavar="FILE", help="also write a JUnit XML report")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Check, and print the failed checks (with ``-v`` all checks); exit 1 if a check failed."""
    with console.step(f"verifying {args.project}"):
        report = api.verify(
            args.project,
            elf=args.elf,
            ram=args.ram,
            flash=args.flash,
            codegen_path=args.codegen_path,
            scope=args.scope,
        )
    if args.junit:
        junit.write(args.junit, "microgen verify", report.cases())
    used = ram.of_total(manifest.load(args.project), report.sizes.arena, report.sizes.ram)
    used = used if report.scope == "project" else used.of_model()
    data = {**report.to_json(), "ram": used.to_json()}
    text = _all(report, used) if args.verbose else _short(report, used)
    return Outcome(data, text, exit_code=0 if report.ok else 1)


def _all(report: VerifyReport, used: Ram) -> list[Part]:
    sizes = report.sizes
    flash = f"flash: {sizes.flash:,} bytes (code {sizes.code:,}, weights {sizes.weights:,})"
    return [report.table(), "", *used.lines(), flash, _SCOPES[report.scope], report.summary()]


def _short(report: VerifyReport, used: Ram) -> list[Part]:
    """The failed checks, the scope if it is the model, then one line with the summary and sizes."""
    failed = [
        line
        for check in report.failed
        for line in (
            f"{check.name} failed",
            f"    expected: {check.expected}",
            f"    found: {check.found}",
        )
    ]
    sizes = [f"{ram.ARENA_IO} {used.arena_io:,} bytes"]
    if used.stack:
        sizes += [f"{ram.TOTAL} {used.total:,} bytes", f"flash {report.sizes.flash:,} bytes"]
    scope = [_SCOPES[report.scope]] if report.scope == "model" else []
    return [*failed, *scope, f"{report.summary()}; {', '.join(sizes)}"]
