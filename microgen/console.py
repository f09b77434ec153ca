"""What a command tells the user: results on stdout, progress and errors on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console as RichConsole
from rich.console import RenderableType

from microgen.errors import MicrogenError, one_line


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command found: plain data for ``--json``, text for people, the exit code."""

    data: Any
    text: RenderableType
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Console:
    """Where things are printed. Colour and spinners appear on a terminal only (rich decides)."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show that something is going on while the block runs."""
        err = RichConsole(stderr=True)
        if self.quiet:
            yield
        elif err.is_terminal:
            with err.status(f"{what} ..."):
                yield
        else:
            self.note(f"{what} ...")
            yield

    def note(self, text: str) -> None:
        """One line on stderr, unless quiet."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def detail(self, text: str) -> None:
        """Text on stderr with ``-v`` only."""
        if self.verbose:
            print(text, file=sys.stderr, flush=True)

    def result(self, outcome: Outcome) -> None:
        """The command's result: JSON, or text (nothing if quiet and nothing failed)."""
        if self.as_json:
            print(json.dumps(outcome.data, indent=2, sort_keys=True))
        elif not self.quiet or outcome.exit_code:
            _print(outcome.text)

    def error(self, error: MicrogenError) -> None:
        """An error: one line on stderr, with ``-v`` its details below; with ``--json`` all of it as
        data on stdout."""
        if self.as_json:
            data = {**error.facts, "what": error.what, "where": error.where, "hint": error.hint}
            found = {**data, "details": list(error.details)}
            print(json.dumps({"ok": False, "error": found}, indent=2, sort_keys=True))
        print(f"microgen: {error}", file=sys.stderr)
        for line in error.details:
            self.detail(f"  {one_line(line)}")


def _print(text: RenderableType) -> None:
    """Print on stdout; a pipe has no width of its own, so nothing is folded there."""
    out = RichConsole(width=None if sys.stdout.isatty() else 200, highlight=False)
    if isinstance(text, str):
        out.print(text, markup=False, soft_wrap=True)
    else:
        out.print(text)
