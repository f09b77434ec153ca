"""Sizes: files, lines, classes and tables of costs.

- files of Python (C, tests) in one folder: those directly in one folder of ``microgen/`` (``crt/``,
  ``tests/``), for the fullest folder. Of tests, ``data`` and ``golden`` are left out.
- class names that exist twice: names of classes at the top level of modules of ``microgen/``,
  without a leading underscore, that two or more modules define.
- costs: all files of data (JSON, CSV, TSV, YAML, TOML) below ``microgen/``, except those of
  ``frontends``, and below ``measured/`` if there is such a folder. A kilobyte is 1,000 bytes.
- lines of Python code: lines of ``microgen/`` that are not blank, and not part of a docstring, a
  comment or an import. Comments that follow code are not counted as comments.
- lines of C: all lines of .c, .h and .S below ``crt/``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from scripts.house.tree import (
    PYTHON,
    C,
    Figure,
    Tree,
    module,
    text,
)

LONGEST_MODULE = 400  # lines
_DATA = (".json", ".jsonl", ".csv", ".tsv", ".yml", ".yaml", ".toml")
_NOT_TESTS = {"data", "golden"}


def measure(tree: Tree) -> dict[str, Figure]:
    """All sizes."""
    return {**_folders(tree), **_classes(tree), **_costs(tree), **_python(tree), **_c(tree)}


def _folders(tree: Tree) -> dict[str, Figure]:
    tests = [
        path
        for path in tree.files("tests", PYTHON)
        if not _NOT_TESTS & set(path.relative_to(tree.root).parts)
    ]
    return {
        "files of Python in one folder": _fullest(tree, tree.files("microgen", PYTHON)),
        "files of C in one folder": _fullest(tree, tree.files("crt", C)),
        "files of tests in one folder": _fullest(tree, tests),
    }


def _fullest(tree: Tree, files: Iterable[Path]) -> Figure:
    folders = Counter(path.parent for path in files)
    if not folders:
        return Figure(0)
    folder, number = folders.most_common(1)[0]
    return Figure(number, tree.name(folder))


def _classes(tree: Tree) -> dict[str, Figure]:
    defined = Counter(
        name
        for path in tree.files("microgen", PYTHON)
        for name in set(module(path).classes)
        if not name.startswith("_")
    )
    twice = sorted(name for name, number in defined.items() if number > 1)
    return {"class names that exist twice": Figure(len(twice), ", ".join(twice))}


def _costs(tree: Tree) -> dict[str, Figure]:
    files = [
        path
        for path in (*tree.files("microgen", _DATA), *tree.files("measured", _DATA))
        if path.relative_to(tree.root).parts[1] != "frontends"
    ]
    lines = [line for path in files for line in text(path).splitlines()]
    nbytes = sum(path.stat().st_size for path in files)
    longest = max(map(len, lines), default=0)
    return {
        "lines of costs": Figure(len(lines), f"{len(files)} files"),
        "kilobytes of costs": Figure(round(nbytes / 1000)),
        "longest line of costs": Figure(longest),
    }


def _python(tree: Tree) -> dict[str, Figure]:
    modules = tree.files("microgen", PYTHON)
    every = code = comments = 0
    long = []
    for path in modules:
        lines = text(path).splitlines()
        every += len(lines)
        # Whole lines only: a "#" after code may be inside a string.
        comments += sum(line.lstrip().startswith("#") for line in lines)
        code += _code(path, lines)
        if len(lines) > LONGEST_MODULE:
            long.append(tree.name(path))
    return {
        "lines of Python code": Figure(code, f"of {every:,}"),
        "comments, % of lines": Figure(round(100 * comments / max(every, 1), 1), f"{comments:,}"),
        "files of Python": Figure(len(modules)),
        "modules above 400 lines": Figure(len(long), ", ".join(long)),
    }


def _code(path: Path, lines: Iterable[str]) -> int:
    aside = module(path).docstring_lines | module(path).import_lines
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in aside
        for number, line in enumerate(lines, 1)
    )


def _c(tree: Tree) -> dict[str, Figure]:
    files = tree.files("crt", C)
    lines = sum(len(text(path).splitlines()) for path in files)
    return {"lines of C": Figure(lines, f"{len(files)} files")}
