"""Lays out C whose length depends on names, so that no line is too long for a screen."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from microgen.base.names import cnames

WIDTH = 120  # columns of the longest line of generated code


def comment(
    text: str, indent: int = 0, *, more: Sequence[str] = (), table: Sequence[str] = ()
) -> str:
    """The text as a comment, on one line if it fits. Each text of ``more`` begins a new line, and
    its continuation lines are indented. The lines of a ``table`` are kept unchanged, after an empty
    line. The template has already written ``indent`` spaces."""
    hanging = "  " if more else ""
    # The marks of the comment take columns, too.
    width = WIDTH - indent - len("/*  */")
    lines = [
        line
        for paragraph in (text, *more)
        for line in textwrap.wrap(
            cnames.inert(paragraph), width, subsequent_indent=hanging, break_on_hyphens=False
        )
    ]
    margin = f"\n{' ' * indent} *"
    if table:
        rows = "".join(f"{margin} {line}".rstrip() for line in ("", *table))
        return f"/* {f'{margin} '.join(lines)}{rows}{margin}/"
    return f"/* {f'{margin} '.join(lines)} */"


def joined(operator: str, conditions: Sequence[str]) -> str:
    """Several conditions as one, each in brackets."""
    bracketed = [f"({one})" for one in conditions]
    return conditions[0] if len(conditions) == 1 else operator.join(bracketed)


def words(*words: str, indent: int = 0) -> str:
    """The words on one line if they fit, otherwise each on its own line. The template has already
    written ``indent`` spaces."""
    line = " ".join(words)
    return line if len(line) + indent <= WIDTH else f"\n{' ' * indent}".join(words)


def call(function: str, arguments: Sequence[str], indent: int = 0, *, end: str = "") -> str:
    """``function(arguments)`` on one line, or with a line for each argument. The template has
    already written ``indent`` spaces; ``end`` follows the call."""
    line = f"{function}({', '.join(arguments)}){end}"
    if len(line) + indent <= WIDTH:
        return line
    margin = " " * (indent + 4)
    inside = f",\n{margin}".join(arguments)
    return f"{function}(\n{margin}{inside}){end}"


def initialised(variable: str, fields: Sequence[str], indent: int = 0) -> str:
    """The definition of a structure on one line, or with a line for each field. The template has
    already written ``indent`` spaces."""
    line = f"{variable} = {{{', '.join(fields)}}};"
    if len(line) + indent <= WIDTH:
        return line
    margin = " " * indent
    inside = "".join(f"{margin}    {field},\n" for field in fields)
    return f"{variable} = {{\n{inside}{margin}}};"
