"""The result of verify, as a table, JSON and JUnit XML."""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table
from rich.text import Text

from microgen.errors import cut

_STYLES = {"ok": "green", "failed": "bold red", "n/a": "dim"}


@dataclass(frozen=True, slots=True)
class Check:
    """One check: ``status`` is "ok", "failed" or "n/a". What it quotes is cut."""

    name: str
    status: str
    expected: str
    found: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "expected", cut(self.expected))
        object.__setattr__(self, "found", cut(self.found))


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Every check, in the documented order."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status == "failed")

    def check(self, name: str) -> Check:
        """The check of that name."""
        return next(check for check in self.checks if check.name == name)

    def summary(self) -> str:
        """One line: how many checks have which status."""
        counts = dict.fromkeys(_STYLES, 0)
        for check in self.checks:
            counts[check.status] += 1
        return ", ".join(f"{count} {status}" for status, count in counts.items())

    def to_json(self) -> dict[str, Any]:
        """``{"ok": bool, "checks": [{"name", "status", "expected", "found"}]}``."""
        return {"ok": self.ok, "checks": [asdict(check) for check in self.checks]}

    def to_junit(self) -> str:
        """A JUnit XML document: a test case per check, skipped where it does not apply."""
        suite = ElementTree.Element(
            "testsuite",
            name="microgen verify",
            tests=str(len(self.checks)),
            failures=str(len(self.failed)),
            errors="0",
            skipped=str(sum(check.status == "n/a" for check in self.checks)),
        )
        for check in self.checks:
            _add_case(suite, check)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"

    def table(self) -> Table:
        """For a rich console: failed checks first."""
        table = Table(box=None, pad_edge=False)
        table.add_column("check", no_wrap=True)
        table.add_column("status", no_wrap=True)
        for name in ("expected", "found"):
            table.add_column(name, overflow="fold", ratio=1)
        for check in sorted(self.checks, key=lambda check: check.status != "failed"):
            status = Text(check.status, style=_STYLES[check.status])
            table.add_row(check.name, status, Text(check.expected), Text(check.found))
        return table

    def to_text(self, width: int = 120) -> str:
        """The table without colour, and the summary."""
        stream = io.StringIO()
        Console(file=stream, width=width, color_system=None).print(self.table())
        lines = [line.rstrip() for line in stream.getvalue().splitlines()]
        return "\n".join([*lines, "", self.summary(), ""])


def _add_case(suite: ElementTree.Element, check: Check) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname="verify", name=check.name)
    if check.status == "failed":
        message = _printable(f"expected {check.expected}; found {check.found}")
        ElementTree.SubElement(case, "failure", message=message)
    elif check.status == "n/a":
        ElementTree.SubElement(case, "skipped", message=_printable(check.found))


def _printable(text: str) -> str:
    """XML 1.0 has no control characters; symbol names in a broken ELF may."""
    return "".join(c if c.isprintable() else "?" for c in text)
