"""The input and the result of a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microgen.blob.payloads.base import PayloadReader
from microgen.ir.graph import Array
from microgen.manifest import Manifest
from microgen.target.board import Board
from microgen.verifier.elf import Elf


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What the user adds so that a project can be generated and built again: folders with
    codegens, ``NAME.KEY=VALUE`` for codegens, and optimization levels of CMake variables."""

    codegen_path: Sequence[Path] = ()
    codegen_option: Sequence[str] = ()
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """A built project, read once.

    ``parameters`` reads ``model/parameters/<module>.params`` and ``disassembly`` the text of
    ``objdump -d``; both may raise MicrogenError, and ``readers``, those of the blob's payloads by
    type key, too. ``ram`` and ``flash`` are budgets in bytes, 0 for
    none; ``painted_stack`` is the high-water mark that the firmware reported, in bytes.
    ``reproduction`` is None unless the check ``reproduce`` is asked for.
    """

    project: Path
    elf: Elf
    manifest: Manifest
    board: Board
    parameters: Callable[[], Mapping[str, Array]]
    disassembly: Callable[[], str]
    readers: Callable[[], Mapping[str, PayloadReader]]
    ram: int = 0
    flash: int = 0
    painted_stack: int | None = None
    with_project_files: bool = True
    reproduction: Reproduction | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. ``status`` is "ok", "failed" or "n/a". ``values`` are its numbers, as
    plain data."""

    status: str
    expected: str
    found: str
    values: Mapping[str, Any] = field(default_factory=dict)


def judged(expected: str, problems: Sequence[str], found: str, **values: Any) -> Finding:
    """Failed with the first problems if there are any, otherwise ok with ``found``. ``values`` are
    the numbers that were compared."""
    if not problems:
        return Finding("ok", expected, found, values)
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    return Finding("failed", expected, "; ".join(problems[:3]) + more, values)


def not_applicable(why: str) -> Finding:
    """A finding that the check has no meaning here; ``why`` says why."""
    return Finding("n/a", "", why)


def joined(findings: Mapping[str, Finding]) -> Finding:
    """One finding for several models: failed if one is, else ok if one is. The text about each
    model is preceded by its name."""
    statuses = {finding.status for finding in findings.values()}
    status = next(s for s in ("failed", "ok", "n/a") if s in statuses)
    expected = [f"{name}: {f.expected}" for name, f in findings.items() if f.expected]
    found = [f"{name}: {f.found}" for name, f in findings.items() if f.status == status]
    values = {name: dict(f.values) for name, f in findings.items() if f.values}
    return Finding(status, "; ".join(expected), "; ".join(found), values)
