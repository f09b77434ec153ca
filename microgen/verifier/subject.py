"""The input and the result of a check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from microgen.base.errors import MicrogenError, ProjectError
from microgen.base.files import inside
from microgen.base.manifest import Manifest
from microgen.graph.ir.graph import Array
from microgen.relay.blob.payloads.base import PayloadReader
from microgen.target.board import Board
from microgen.verifier.elf.elf import Elf, Symbol

Item = TypeVar("Item")

# The part that is checked: the project's whole firmware, or only the model in another firmware.
Scope = Literal["project", "model"]


@dataclass(frozen=True, slots=True)
class Reached:
    """The functions that the models' run functions reach, the most bytes of stack that they take,
    the functions of the deepest path, and the code that could not be followed. If there are
    ``problems``, there may be more functions."""

    functions: Collection[Symbol] = ()
    nbytes: int = 0
    path: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The user's inputs for generating and building a project again: folders with codegens,
    ``NAME.KEY=VALUE`` for codegens, and optimization levels of CMake variables."""

    codegen_path: Sequence[Path] = ()
    codegen_option: Sequence[str] = ()
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """A built project, read once.

    ``parameters`` reads ``model/parameters/<module>.params``, ``disassembly`` the text of ``objdump
    -d``, and ``readers`` makes the readers of the blob's payloads by type key. All three may raise
    MicrogenError. ``functions`` are the symbols of the code that the checks are about: in the scope
    "project" all symbols except objects, in the scope "model" the symbols of ``reached``, which is
    otherwise empty. ``ram`` and ``flash`` are budgets in bytes, 0 for none. ``painted_stack`` is
    the high-water mark that the firmware reported, in bytes. ``reproduction`` is None unless the
    check ``reproduce`` is asked for.
    """

    project: Path
    elf: Elf
    manifest: Manifest
    board: Board
    parameters: Callable[[], Mapping[str, Array]]
    disassembly: Callable[[], str]
    readers: Callable[[], Mapping[str, PayloadReader]]
    functions: Callable[[], Collection[Symbol]]
    reached: Callable[[], Reached] = Reached
    ram: int = 0
    flash: int = 0
    painted_stack: int | None = None
    with_project_files: bool = True
    scope: Scope = "project"
    reproduction: Reproduction | None = None


def content(project: Path, name: str) -> bytes:
    """A project's file that the manifest names. Raises ProjectError if it cannot be read, or is not
    inside the project."""
    try:
        return inside(project, name).read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise ProjectError(what, where=name, hint="generate again") from error


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. ``status`` is "ok", "failed" or "n/a". ``values`` are the numbers that
    were compared, as plain data."""

    status: str
    expected: str
    found: str
    values: Mapping[str, Any] = field(default_factory=dict)


def judged(expected: str, problems: Sequence[str], actual: str, **values: Any) -> Finding:
    """A finding that is failed with the first problems if there are any, otherwise ok with
    ``actual``. ``values`` are the numbers that were compared."""
    if not problems:
        return Finding("ok", expected, actual, values)
    more = f"; and {len(problems) - 3} more" if len(problems) > 3 else ""
    return Finding("failed", expected, "; ".join(problems[:3]) + more, values)


def judged_by_parameters(
    subject: Subject,
    expected: str,
    items: Iterable[Item],
    problems: Callable[[Item, Mapping[str, Array]], Iterable[str]],
    actual: str,
    **values: Any,
) -> Finding:
    """``judged`` with the problems of each item and the model's parameters; failed if these cannot
    be read."""
    try:
        parameters = subject.parameters()
    except MicrogenError as error:
        return Finding("failed", expected, str(error))
    wrong = [problem for item in items for problem in problems(item, parameters)]
    return judged(expected, wrong, actual, **values)


def not_applicable(why: str) -> Finding:
    """The finding of a check that does not apply here; ``why`` says why."""
    return Finding("n/a", "", why)


def joined(findings: Mapping[str, Finding]) -> Finding:
    """One finding for several models. It is failed if one finding is failed, otherwise ok if one
    finding is ok. The text about each model begins with its name."""
    # A model to which a check does not apply must not hide the finding about another model.
    statuses = {finding.status for finding in findings.values()}
    status = next(s for s in ("failed", "ok", "n/a") if s in statuses)
    expected = [f"{name}: {f.expected}" for name, f in findings.items() if f.expected]
    actual = [f"{name}: {f.found}" for name, f in findings.items() if f.status == status]
    values = {name: dict(f.values) for name, f in findings.items() if f.values}
    return Finding(status, "; ".join(expected), "; ".join(actual), values)
