"""A command's output for the user: results on stdout, progress and errors on stderr.

Everything that is printed for people goes through ``text_layout.lines``. ``lines`` removes control
characters of terminals, and never breaks a word.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console as RichConsole
from rich.text import Text

from microgen.base.errors import MicrogenError, cut, one_line
from microgen.base.output import progress
from microgen.base.output.text_layout import Listing, Part, lines
from microgen.base.printable import printable

SCHEMA = 1  # the version of every command's JSON: docs/reference/json.md


@dataclass(frozen=True, slots=True)
class Outcome:
    """A command's result: plain data for ``--json``, parts of a text for people, the exit code."""

    data: dict[str, Any]
    text: Sequence[Part]
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Console:
    """The two output streams. Spinners, counts and wrapped lines are for terminals only."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show activity while the block runs, with the counts that it reports."""
        err = RichConsole(stderr=True)
        if self.quiet:
            yield
        elif err.is_terminal:
            with (
                err.status(_status(what)) as status,
                progress.shown(
                    lambda name, done, total: status.update(
                        _status(what, f"{done} of {total} {name}")
                    )
                ),
            ):
                yield
        else:
            # A log has one line for each step, because a spinner needs a terminal.
            self.note(f"{what} ...")
            yield

    def note(self, text: str) -> None:
        """Print one line on stderr, unless quiet."""
        if not self.quiet:
            _print([cut(text)], sys.stderr)

    def detail(self, text: str) -> None:
        """Print text on stderr, with ``-v`` only."""
        if self.verbose:
            _print([Listing(text)], sys.stderr)

    def result(self, outcome: Outcome) -> None:
        """Print the command's result: JSON, or text (nothing if quiet and nothing failed)."""
        if self.as_json:
            _print_json(outcome.data)
        # Failures are printed even if quiet, otherwise an exit code would be unexplained.
        elif not self.quiet or outcome.exit_code:
            _print(outcome.text, sys.stdout)

    def error(self, error: MicrogenError) -> None:
        """Print an error as one line on stderr. ``-v`` adds its details, and for an error in
        foreign code the traceback. With ``--json`` the same is printed as data on stdout."""
        if self.as_json:
            _print_json(error.to_json())
        _print([f"microgen: {error}"], sys.stderr)
        for detail in error.details:
            self.detail(f"  {one_line(cut(detail))}")
        if error.shows_traceback and error.__cause__ is not None:
            self.detail("".join(traceback.format_exception(error.__cause__)).rstrip())


def _status(what: str, counts: str = "") -> Text:
    return Text(printable(f"{what} ... {counts}".rstrip()))


def _print(parts: Sequence[Part], stream: TextIO) -> None:
    # A pipe has no width, so nothing is wrapped there.
    width = shutil.get_terminal_size().columns if stream.isatty() else None
    encoding = stream.encoding or "utf-8"
    for line in lines(parts, width):
        # The terminal's encoding may lack characters.
        shown = line.encode(encoding, "replace").decode(encoding)
        print(shown, file=stream)
    stream.flush()


def _print_json(data: dict[str, Any]) -> None:
    # In ASCII, because it contains raw text from files. A NaN, which JSON does not have, becomes
    # text.
    plain = json.loads(json.dumps({"schema": SCHEMA, **data}), parse_constant=str)
    print(json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False))
