"""The result of verify, as a table, JSON and test cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from microgen.base.errors import cut
from microgen.base.output.junit import Case
from microgen.base.output.text_layout import Column, Table
from microgen.verifier.sizes import Sizes
from microgen.verifier.subject import Scope

_STATUSES = ("ok", "failed", "n/a")


@dataclass(frozen=True, slots=True)
class Check:
    """One check. ``status`` is "ok", "failed" or "n/a". ``values`` has the numbers in the texts
    ``expected`` and ``found``, by name. Long quotations in the texts are cut."""

    name: str
    status: str
    expected: str
    found: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expected", cut(self.expected))
        object.__setattr__(self, "found", cut(self.found))


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Every check, in the documented order, the firmware's sizes, and whether the whole firmware or
    only the model was checked. ``required`` are the checks that the user asked for by an option:
    ``n/a`` is not enough for them. ``notice`` is a sentence to read first: the parts that
    were not checked, or the scope that this ELF needs; empty if there is none."""

    checks: tuple[Check, ...]
    sizes: Sizes
    scope: Scope = "project"
    required: tuple[str, ...] = ()
    notice: str = ""

    @property
    def ok(self) -> bool:
        """Whether no check failed, and each required one is ok."""
        return not (self.failed or self.unanswered)

    @property
    def unanswered(self) -> tuple[Check, ...]:
        """The required checks that are ``n/a``."""
        return tuple(c for c in self.checks if c.name in self.required and c.status == "n/a")

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status == "failed")

    @property
    def counts(self) -> dict[str, int]:
        """The number of checks with each status."""
        statuses = [check.status for check in self.checks]
        return {status: statuses.count(status) for status in _STATUSES}

    def check(self, name: str) -> Check:
        """The check of that name."""
        return next(check for check in self.checks if check.name == name)

    def summary(self) -> str:
        """One line with the number of checks of each status."""
        return ", ".join(f"{count} {status}" for status, count in self.counts.items())

    def to_json(self) -> dict[str, Any]:
        """``{"ok": bool, "scope": "project" or "model", "notice": text, "checks": [{"name",
        "status", "expected", "found", "values"}]}``, the counts of statuses, and the bytes of
        flash."""
        return {
            "ok": self.ok,
            "scope": self.scope,
            "notice": self.notice,
            "checks": [asdict(check) for check in self.checks],
            "counts": self.counts,
            "flash": {
                "total": self.sizes.flash,
                "code": self.sizes.code,
                "weights": self.sizes.weights,
            },
        }

    def cases(self) -> tuple[Case, ...]:
        """A test case for each check, marked as skipped if it does not apply."""
        return tuple(map(_case, self.checks))

    def table(self) -> Table:
        """Every check, with failed ones first."""
        table = Table([Column(name) for name in ("check", "status", "expected", "found")])
        # Sorting is stable, so both groups keep the documented order.
        for check in sorted(self.checks, key=lambda check: check.status != "failed"):
            table.add(check.name, check.status, check.expected, check.found)
        return table

    def to_text(self, width: int = 120) -> str:
        """The notice, the table and the summary."""
        first = [self.notice, ""] if self.notice else []
        return "\n".join([*first, *self.table().lines(width), "", self.summary(), ""])


def _case(check: Check) -> Case:
    # JUnit has one text for a test case, so a failure needs both sides in it.
    failure = f"expected {check.expected}; found {check.found}"
    message = failure if check.status == "failed" else check.found
    return Case("verify", check.name, check.status, message)
