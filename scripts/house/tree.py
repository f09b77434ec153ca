"""The files of a checkout, and the statements of its modules."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PYTHON = (".py",)
C = (".c", ".h", ".S")
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, and what explains it: the names that are counted, or the worst one."""

    value: float
    about: str = ""


@dataclass(frozen=True)
class Tree:
    """A checkout. Hidden folders and Python's caches are not parts of it."""

    root: Path

    @functools.cache  # noqa: B019 - a run has one tree or two
    def files(self, folder: str, suffixes: tuple[str, ...] = ()) -> tuple[Path, ...]:
        """The files below a folder with one of some suffixes, or all, sorted by their paths."""
        below = sorted((self.root / folder).rglob("*"))
        return tuple(
            path
            for path in below
            if (not suffixes or path.suffix in suffixes)
            and not any(_is_hidden(part) for part in path.relative_to(self.root).parts)
            and path.is_file()
        )

    def name(self, path: Path) -> str:
        """The path from the root, as POSIX text."""
        return path.relative_to(self.root).as_posix()


def _is_hidden(part: str) -> bool:
    return part.startswith(".") or part == "__pycache__"


@functools.cache
def text(path: Path) -> str:
    """The contents of a source file."""
    return path.read_text(encoding="utf-8")


@functools.cache
def statements(path: Path) -> tuple[ast.stmt, ...]:
    """All statements of a module, also those in others. Expressions have none."""
    found: list[ast.stmt] = []
    left: list[ast.AST] = [ast.parse(text(path))]
    while left:
        node = left.pop()
        for block in _BLOCKS:
            inside = getattr(node, block, ())
            if isinstance(inside, list):
                left += inside
        if isinstance(node, ast.stmt):
            found.append(node)
    return tuple(found)


@functools.cache
def import_lines(path: Path) -> frozenset[int]:
    """The numbers of the lines of a module's import statements."""
    return _lines(
        node for node in statements(path) if isinstance(node, ast.Import | ast.ImportFrom)
    )


@functools.cache
def docstring_lines(path: Path) -> frozenset[int]:
    """The numbers of the lines of strings that are statements: docstrings, mostly."""
    return _lines(
        node
        for node in statements(path)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines(nodes: Iterable[ast.stmt]) -> frozenset[int]:
    return frozenset(
        line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
