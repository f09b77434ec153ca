"""The files of a checkout, and the facts about its modules."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PYTHON = (".py",)
C = (".c", ".h", ".S")
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, and its explanation: the names that are counted, or the worst one."""

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


@dataclass(frozen=True, slots=True)
class Module:
    """The facts about a module, instead of its syntax tree, which is large.

    ``imports`` are the dotted names that it imports, at any depth: ``from a import b`` is "a.b".
    ``classes`` are the names of its classes at the top level. The others are numbers of lines: of
    import statements, and of strings that are statements, which are docstrings mostly.
    """

    imports: tuple[str, ...]
    classes: tuple[str, ...]
    import_lines: frozenset[int]
    docstring_lines: frozenset[int]


@functools.cache
def module(path: Path) -> Module:
    """Read one module."""
    parsed = ast.parse(text(path))
    every = list(_statements(parsed))
    importing = [node for node in every if isinstance(node, ast.Import | ast.ImportFrom)]
    return Module(
        tuple(name for node in importing for name in _names(node)),
        tuple(node.name for node in parsed.body if isinstance(node, ast.ClassDef)),
        _lines(importing),
        _lines(filter(_is_string, every)),
    )


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    # Only blocks are entered, because expressions contain no statements.
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        for block in _BLOCKS:
            inside = getattr(node, block, ())
            if isinstance(inside, list):
                left += inside
        if isinstance(node, ast.stmt):
            yield node


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [start + alias.name for alias in node.names]


def _is_string(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines(nodes: Iterable[ast.stmt]) -> frozenset[int]:
    return frozenset(
        line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
