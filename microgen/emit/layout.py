"""C whose length depends on names, in lines that a screen shows whole."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from microgen.names import cnames

WIDTH = 120  # columns of the longest line of generated code


def comment(text: str, indent: int = 0) -> str:
    """Any text as a comment, the template having written ``indent`` spaces: of one line if it
    fits."""
    lines = textwrap.wrap(
        cnames.inert(text), WIDTH - indent - len("/*  */"), break_on_hyphens=False
    )
    joined = f"\n{' ' * indent} * ".join(lines)
    return f"/* {joined} */"


def words(*words: str) -> str:
    """The words in one line if they fit, else each on its own."""
    line = " ".join(words)
    return line if len(line) <= WIDTH else "\n".join(words)


def call(function: str, arguments: Sequence[str], indent: int = 0, *, end: str = "") -> str:
    """``function(arguments)``, the template having written ``indent`` spaces: in one line, or with
    a line for each argument. ``end`` follows it."""
    line = f"{function}({', '.join(arguments)}){end}"
    if len(line) + indent <= WIDTH:
        return line
    margin = " " * (indent + 4)
    inside = f",\n{margin}".join(arguments)
    return f"{function}(\n{margin}{inside}){end}"
