"""RAM under two names, always counted in the same way: "arena + I/O" and "RAM total"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from microgen.base.manifest import Manifest

ARENA_IO, TOTAL = "arena + I/O", "RAM total"


@dataclass(frozen=True, slots=True)
class Ram:
    """RAM in bytes. ``workspace``: the pools of buffers between layers, including those that a
    caller provides. ``io``: inputs and outputs. ``static``: other variables, and padding for
    alignment. ``stack``: the bytes that are reserved. That is 0 on the host, whose total is not
    counted. ``stack_bound`` of them are the most that the code takes, as expected or as proven, and
    ``stack_margin`` are left for nested exceptions."""

    workspace: int
    io: int
    static: int
    stack: int
    stack_bound: int = 0
    stack_margin: int = 0

    @property
    def arena_io(self) -> int:
        """The workspace with all inputs and outputs."""
        return self.workspace + self.io

    @property
    def total(self) -> int:
        """Everything in RAM."""
        return self.arena_io + self.static + self.stack

    def of_model(self) -> Ram:
        """Without the parts that another firmware around the model decides."""
        return replace(self, static=0, stack=0, stack_bound=0, stack_margin=0)

    def lines(self, *, about: bool = False) -> list[str]:
        """A line for each name, with its parts. ``about``: the total is an estimate."""
        arena = (
            f"{ARENA_IO}: {self.arena_io:,} bytes (workspace {self.workspace:,}, "
            f"inputs and outputs {self.io:,})"
        )
        if not self.stack:
            return [arena]
        return [
            arena,
            f"{TOTAL}: {'about ' if about else ''}{self.total:,} bytes ({ARENA_IO} "
            f"{self.arena_io:,}, static data {self.static:,}, stack {self.stack:,})",
            f"stack: {self.stack:,} bytes ({'expected' if about else 'proven'} at most "
            f"{self.stack_bound:,}, margin {self.stack_margin:,})",
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain data; the total is null for the host."""
        return {
            "workspace": self.workspace,
            "io": self.io,
            "arena_io": self.arena_io,
            "static": self.static,
            "stack": self.stack,
            "stack_bound": self.stack_bound,
            "stack_margin": self.stack_margin,
            "total": self.total if self.stack else None,
        }


def of_total(
    record: Manifest, workspace: int, total: int, stack: int, bound: int | None = None
) -> Ram:
    """The RAM of a firmware that takes ``total`` bytes, including ``workspace`` bytes of pools and
    ``stack`` bytes that are reserved. ``bound`` are the bytes of stack that it was proven to take,
    None if that is only expected."""
    io = sum(m.plan.io_bytes for m in record.modules)
    sizes, static = record.estimate, max(0, total - workspace - io - stack)
    expected = sizes.stack_bound if bound is None else bound
    return Ram(workspace, io, static, stack, expected, sizes.stack_margin)


def estimated(record: Manifest) -> Ram:
    """The RAM of a project, as estimated when it was generated."""
    stack = int(record.board["stack_bytes"])
    return of_total(record, _workspace(record), record.estimate.ram, stack)


def _workspace(record: Manifest) -> int:
    """The bytes of the pools of all models. A pool that several models share is counted once."""
    common = record.shared_workspace
    apart = [m for m in record.modules if not common or m.module not in common.modules]
    return sum(m.plan.peak for m in apart) + (common.nbytes if common else 0)
