"""Checks from the ELF that the firmware is as planned. See ``docs/reference/verify.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from microgen.base import manifest
from microgen.base.errors import BuildError, ProjectError
from microgen.base.manifest import Manifest, ModuleRecord
from microgen.base.output import progress
from microgen.building.builder import disassemble
from microgen.compiler.codegens import payloads
from microgen.graph import params_file
from microgen.graph.ir.graph import Array
from microgen.relay.blob.payloads.base import PayloadReader
from microgen.target.board import Board
from microgen.verifier import scopes, sizes, stack
from microgen.verifier.again import build_settings
from microgen.verifier.checks import subtree
from microgen.verifier.elf import elf, header_rules
from microgen.verifier.elf.elf import Elf
from microgen.verifier.report import Check, VerifyReport
from microgen.verifier.sizes import Contributor, Sizes
from microgen.verifier.stack import StackBound
from microgen.verifier.subject import Finding, Reproduction, Scope, Subject, content, joined
from microgen.verifier.table import CHECKS, FIRMWARE, CheckFunction, CheckRow

__all__ = [
    "CHECKS",
    "Check",
    "Contributor",
    "Scope",
    "Sizes",
    "StackBound",
    "VerifyReport",
    "measure",
    "stack_bound",
    "verify",
    "with_painted_stack",
]

_MISSING = "name a file that is there"


def verify(
    project: Path,
    *,
    elf: Path | None = None,
    ram: int | None = None,
    flash: int | None = None,
    painted_stack: int | None = None,
    project_files: bool = True,
    codegen_path: Sequence[Path] = (),
    scope: Scope = "project",
    reproduce: bool = False,
    codegen_option: Sequence[str] = (),
    levels: str = "",
) -> VerifyReport:
    """Check a built project: its ELF against its manifest, parameters and board.

    ``elf`` defaults to ``build/firmware.elf``. ``ram`` and ``flash`` are budgets in bytes; the
    defaults are the manifest's budgets. ``painted_stack`` is the high-water mark that a run
    reported, in bytes. ``project_files=False`` switches the comparison of file digests off.
    ``codegen_path`` are folders with codegens, which say how their modules are read. ``scope`` says
    whether to check the whole firmware, which is the default, or only the model, wherever it was
    linked. ``reproduce`` also generates and builds the project again, in a temporary folder, and
    compares: with ``codegen_option``, as ``NAME.KEY=VALUE``, and ``levels``, as "O3" for the model
    or "O3,Os" for the model and for all other code. By default the levels are read from the CMake
    cache next to the ELF; without a cache they are the build's own default.

    Raises ProjectError if the project or its ELF cannot be read, ToolError without objdump.
    """
    asked = None
    if reproduce:
        asked = Reproduction(codegen_path, codegen_option, build_settings.parsed(levels))
    subject = replace(
        _subject(project, elf, codegen_path),
        ram=ram or 0,
        flash=flash or 0,
        painted_stack=painted_stack,
        with_project_files=project_files,
        reproduction=asked,
    )
    return _report(_in_scope(subject, scope), is_given=elf is not None)


def _report(subject: Subject, *, is_given: bool) -> VerifyReport:
    """The report of all checks. ``is_given``: the user has named the ELF."""
    rows = progress.counted("checks", CHECKS.values(), len(CHECKS))
    checks = tuple(_run(row, subject) for row in rows)
    failed = any(check.status == "failed" for check in checks)
    notice = scopes.notice(subject, is_given, failed)
    required = ("reproduce",) if subject.reproduction else ()
    measured = sizes.measure(subject.elf, subject.manifest)
    return VerifyReport(checks, measured, subject.scope, required, notice)


def with_painted_stack(report: VerifyReport, used: int) -> VerifyReport:
    """The report of a board's firmware after a run has reported its high-water mark, in bytes."""
    checks = (stack.with_use(c, used) if c.name == "stack" else c for c in report.checks)
    return replace(report, checks=tuple(checks))


def measure(elf_file: Path, record: Manifest) -> Sizes:
    """The sizes of a built firmware, in bytes. Raises ProjectError if the ELF cannot be read."""
    return sizes.measure(elf.load(elf_file), record)


def stack_bound(project: Path, elf_file: Path | None = None) -> StackBound:
    """The worst-case stack of a project built for a board. Raises as ``verify`` does, and
    ProjectError for the host, whose stack is not the firmware's."""
    subject = _subject(project, elf_file)
    if subject.board.is_host:
        raise ProjectError("a program of the host has no stack bound", where=str(project))
    return stack.bound(subject)


def _in_scope(subject: Subject, scope: Scope) -> Subject:
    """The subject of the checks of a scope. ``subject`` is for the scope "project"."""
    if scope == "project":
        return subject
    reached = cache(lambda: subtree.reached(subject))
    return replace(subject, scope=scope, reached=reached, functions=lambda: reached().functions)


def _run(row: CheckRow, subject: Subject) -> Check:
    finding = row(subject) if row.extent == FIRMWARE else _of_each_model(row, subject)
    return Check(row.name, finding.status, finding.expected, finding.found, finding.values)


def _of_each_model(check: CheckFunction, subject: Subject) -> Finding:
    record = subject.manifest
    if not record.more:
        return check(subject)
    findings = {
        module.module: check(
            replace(
                subject,
                manifest=record.seen_from(module),
                parameters=cache(partial(_parameters, subject.project, module)),
            )
        )
        for module in record.modules
    }
    return joined(findings)


def _subject(project: Path, elf_file: Path | None, codegen_path: Sequence[Path] = ()) -> Subject:
    record = manifest.load(project)
    path = elf_file or project / "build" / "firmware.elf"
    read = elf.load(path, _MISSING if elf_file else elf.BUILD_FIRST)
    board = sizes.board_of(read, record)
    # Functions that are called when needed: objdump takes longer than most checks.
    return Subject(
        project=project,
        elf=read,
        manifest=record,
        board=board,
        parameters=cache(lambda: _parameters(project, record)),
        disassembly=cache(lambda: _disassembled(read, board)),
        readers=cache(lambda: _readers(record, codegen_path)),
        functions=cache(lambda: [symbol for symbol in read.symbols if symbol.kind != "object"]),
    )


def _disassembled(program: Elf, board: Board) -> str:
    """The text of objdump."""
    try:
        return disassemble(program.path, board)
    except BuildError as error:
        # objdump refuses some of the files that ``layout`` refuses, too; the rules say why.
        violations = header_rules.problems(program.headers, "firmware") if program.headers else ()
        for problem in violations:
            raise ProjectError(f"is refused: {problem}", where=str(program.path)) from error
        raise


def _readers(record: Manifest, codegen_path: Sequence[Path]) -> Mapping[str, PayloadReader]:
    names = {own.codegen for module in record.modules for own in module.loaded}
    return payloads.readers(names, codegen_path)


def _parameters(project: Path, record: ModuleRecord) -> Mapping[str, Array]:
    return params_file.loads(content(project, f"model/parameters/{record.module}.params"))
