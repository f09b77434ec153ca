"""``microgen verify``: check from the ELF that the firmware follows the plan."""

from __future__ import annotations

import argparse
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import MicrogenError
from microgen.base.output import junit
from microgen.base.output.console import Console, Outcome
from microgen.base.output.text_layout import Part
from microgen.interface import api
from microgen.interface.commands import compiling
from microgen.planner.program.ram import ARENA_IO, TOTAL, Ram
from microgen.project.firmware import ram
from microgen.target import projects
from microgen.verifier import VerifyReport
from microgen.verifier.again import build_settings

_OPTIONS = ("elf", "ram", "flash", "codegen_path", "scope", "reproduce", "codegen_option", "levels")
_SCOPE = "check the whole firmware (default), or only the model in one that something else links"
_OPTION = "with --reproduce: an option of a code generator; may be repeated"
_LEVELS = "with --reproduce: optimization levels of the ELF, as O3 or O3,Os (default: CMake's)"
_BUDGET = "budget, for example 12288, 12K or 1M (default: the budget given to generate)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("project", metavar="DIR", type=Path, help="a generated project")
    add("--elf", type=Path, metavar="FILE", help="check this file instead of build/firmware.elf")
    add("--ram", type=compiling.size, metavar="BYTES", help=f"RAM {_BUDGET}")
    add("--flash", type=compiling.size, metavar="BYTES", help=f"flash {_BUDGET}")
    add("--scope", choices=("project", "model"), default="project", help=_SCOPE)
    compiling.add_given_board(parser)
    compiling.add_codegen_path(parser)
    add("--reproduce", action="store_true", help="generate and build again, and compare the ELF")
    add("--codegen-option", action="append", default=[], metavar="NAME.KEY=VALUE", help=_OPTION)
    add("--levels", type=_levels, default="", metavar="MODEL[,RUNTIME]", help=_LEVELS)
    add("--junit", type=Path, metavar="FILE", help="also write a JUnit XML report")


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Check, and print the failed checks (with ``-v`` all checks), after the report's notice.

    Exit 1 if a check failed, or if a check that an option asked for is ``n/a``.
    """
    _refuse_unused(args)
    with projects.given(args.board):
        return _verified(args, console)


def _verified(args: argparse.Namespace, console: Console) -> Outcome:
    with console.step(f"verifying {args.project}"):
        report = api.verify(args.project, **compiling.options_of(args, *_OPTIONS))
    if args.junit:
        junit.write(args.junit, "microgen verify", report.cases())
    proven = report.check("stack").values.get("bound")
    sizes = report.sizes
    used = ram.of_total(manifest.load(args.project), sizes.arena, sizes.ram, sizes.stack, proven)
    used = used if report.scope == "project" else used.of_model()
    data = {**report.to_json(), "ram": used.to_json()}
    text = _all(report, used) if args.verbose else _short(report, used)
    return Outcome(data, text, exit_code=0 if report.ok else 1)


def _levels(text: str) -> str:
    try:
        build_settings.parsed(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def _refuse_unused(args: argparse.Namespace) -> None:
    for name in ("codegen_option", "levels"):
        if getattr(args, name) and not args.reproduce:
            flag = f"--{name.replace('_', '-')}"
            raise MicrogenError("is for --reproduce only", where=flag, hint="leave it out")


def _all(report: VerifyReport, used: Ram) -> list[Part]:
    sizes = report.sizes
    flash = f"flash: {sizes.flash:,} bytes (code {sizes.code:,}, weights {sizes.weights:,})"
    first = [report.notice, ""] if report.notice else []
    return [*first, report.table(), "", *used.lines(), flash, report.summary()]


def _short(report: VerifyReport, used: Ram) -> list[Part]:
    """The notice if there is one, the failed checks, the requested checks that are ``n/a``, and one
    line with the summary and sizes."""
    failed = [
        line
        for check in report.failed
        for line in (
            f"{check.name} failed",
            f"    expected: {check.expected}",
            f"    found: {check.found}",
        )
    ]
    sizes = [f"{ARENA_IO} {used.arena_io:,} bytes"]
    if used.stack:
        sizes += [f"{TOTAL} {used.total:,} bytes", f"flash {report.sizes.flash:,} bytes"]
    failed += [f"{check.name} n/a: {check.found}" for check in report.unanswered]
    first = [report.notice] if report.notice else []
    return [*first, *failed, f"{report.summary()}; {', '.join(sizes)}"]
