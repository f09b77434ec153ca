"""RAM under two names, always counted in the same way: "arena + I/O" and "RAM total"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

ARENA_IO, TOTAL = "arena + I/O", "RAM total"


@dataclass(frozen=True, slots=True)
class Ram:
    """The bytes of RAM that a schedule, a model or a firmware needs.

    ``workspace``: the pools of buffers between layers, including those that a caller provides.
    ``io``: inputs and outputs. ``static``: other variables, and padding for alignment. ``stack``:
    the reserve; an offer to ``pipeline.budget`` has only the reserve for operators' calls. It is 0
    on the host, whose total is not counted. ``stack_bound`` and ``stack_margin`` are parts of it:
    the most that the code takes, as expected or as proven, and the bytes left for nested
    exceptions.

    ``shared`` bytes of the workspace are a pool that several models use, one after the other.
    ``least``: no plan of the same schedule needs less than these bytes of workspace, inputs and
    outputs; 0 if they are not counted. If the schedule was not worth a plan (``is_planned``), its
    workspace is that bound.
    """

    workspace: int = 0
    io: int = 0
    static: int = 0
    stack: int = 0
    stack_bound: int = 0
    stack_margin: int = 0
    shared: int = 0
    least: int = 0
    is_planned: bool = True

    @property
    def arena_io(self) -> int:
        """The workspace with all inputs and outputs."""
        return self.workspace + self.io

    @property
    def total(self) -> int:
        """Everything in RAM."""
        return self.arena_io + self.static + self.stack

    @property
    def own(self) -> int:
        """The workspace, inputs and outputs without the pool that models share."""
        return self.arena_io - self.shared

    def of_model(self) -> Ram:
        """The RAM of the model alone, for use in another firmware."""
        # Static data and stack depend on that firmware's application.
        return replace(self, static=0, stack=0, stack_bound=0, stack_margin=0)

    def with_model(self, other: Ram) -> Ram:
        """The RAM of these models and one more, which run one after the other: they need the
        larger of their shared pools and of their stacks."""
        # Models run one after the other, so of shared pools and of stacks only the largest counts.
        shared = max(self.shared, other.shared)
        return Ram(
            workspace=self.workspace - self.shared + other.workspace - other.shared + shared,
            io=self.io + other.io,
            static=self.static + other.static,
            stack=max(self.stack, other.stack),
            stack_bound=max(self.stack_bound, other.stack_bound),
            stack_margin=max(self.stack_margin, other.stack_margin),
            shared=shared,
        )

    def lines(self, *, about: bool = False) -> list[str]:
        """A line for each name, with its parts. ``about``: the total is an estimate."""
        arena = (
            f"{ARENA_IO}: {self.arena_io:,} bytes (workspace {self.workspace:,}, "
            f"inputs and outputs {self.io:,})"
        )
        # The stack of the host is not counted, so it has no total.
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
        names = ("workspace", "io", "arena_io", "static", "stack", "stack_bound", "stack_margin")
        parts = {name: getattr(self, name) for name in names}
        return {**parts, "total": self.total if self.stack else None}
