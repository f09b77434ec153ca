"""Pairs of places in code that share six or more lines of one shape.

A line's shape is the line with every word replaced by one letter, every number by another and
every string by a third. Two files, or two places of one file, are a pair if six lines in a row are
the same to the letter, or have the same shape and ``LEAST_TOKENS`` tokens or more; shorter ones are
lists of fields. Runs that are in more than ``MOST_PLACES`` places are idioms, and draw no pair.

These lines are passed over: blank ones, lone punctuation, comments, docstrings, imports and
includes, decorators, and in C the conditions of the preprocessor and ``extern "C"``.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.house.tree import PYTHON, C, Figure, Tree, module, text

RUN = 6  # lines
MOST_PLACES = 8  # more have the same idiom
LEAST_TOKENS = 26  # of six lines

_STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_TOKEN = re.compile(rf"(?P<S>{_STRING})|(?P<I>[A-Za-z_]\w*)|(?P<N>\d[\w.]*)|\S")
_HASH = re.compile(rf"({_STRING})|#[^\n]*")
_C_COMMENT = re.compile(rf"({_STRING})|/\*.*?\*/|//[^\n]*", re.DOTALL)
_PASSED = re.compile(
    r'#\s*(?:include|if|ifdef|ifndef|endif|else|elif|pragma)\b|extern "C"|@|#define \w+_H$'
)
_WORD = re.compile(r"\w")

Pair = tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code: its number, its text with single spaces, its shape and tokens."""

    number: int
    text: str
    shape: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Alike:
    """Two files that share runs, and the number of the first line of one run in each."""

    first: Path
    line: int
    second: Path
    other_line: int


def measure(tree: Tree) -> dict[str, Figure]:
    """The number of pairs in the C and in the Python of the tree."""
    return {
        f"pairs of alike places, {folder}": Figure(len(alike(tree, folder)))
        for folder in ("crt", "microgen")
    }


def alike(tree: Tree, folder: str) -> list[Alike]:
    """All pairs in one folder, one entry for two files, in the order of their paths."""
    files = {path: list(lines(path)) for path in tree.files(folder, (*PYTHON, *C))}
    found: dict[Pair, Alike] = {}
    for runs in (_exact(files), _shaped(files)):
        for places in runs.values():
            if 1 < len(places) <= MOST_PLACES:
                for pair in _pairs(files, places):
                    found.setdefault((pair.first, pair.second), pair)
    return [found[pair] for pair in sorted(found)]


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are compared."""
    is_python = path.suffix in PYTHON
    aside = frozenset[int]()
    if is_python:
        aside = module(path).docstring_lines | module(path).import_lines
    for number, raw in enumerate(_without_comments(text(path), is_python).split("\n"), 1):
        line = " ".join(raw.split())
        if number in aside or not _WORD.search(line) or _PASSED.match(line):
            continue
        tokens = [match.lastgroup or match[0] for match in _TOKEN.finditer(line)]
        yield Line(number, line, " ".join(tokens), len(tokens))


def _without_comments(source: str, is_python: bool) -> str:
    """The text without comments, in as many lines."""
    return (_HASH if is_python else _C_COMMENT).sub(
        lambda match: match[1] or "\n" * match[0].count("\n"), source
    )


Runs = dict[tuple[str, ...], list[tuple[Path, int]]]


def _exact(files: dict[Path, list[Line]]) -> Runs:
    runs: Runs = defaultdict(list)
    for path, own in files.items():
        for start, run in _runs(own):
            runs[tuple(line.text for line in run)].append((path, start))
    return runs


def _shaped(files: dict[Path, list[Line]]) -> Runs:
    runs: Runs = defaultdict(list)
    for path, own in files.items():
        for start, run in _runs(own):
            if sum(line.tokens for line in run) >= LEAST_TOKENS:
                runs[tuple(line.shape for line in run)].append((path, start))
    return runs


def _runs(own: Sequence[Line]) -> Iterator[tuple[int, Sequence[Line]]]:
    for start in range(len(own) - RUN + 1):
        yield start, own[start : start + RUN]


def _pairs(files: dict[Path, list[Line]], places: Iterable[tuple[Path, int]]) -> Iterator[Alike]:
    """Pairs of places; two places in one file must not overlap."""
    for (a, at), (b, there) in itertools.combinations(places, 2):
        # Overlapping places of one file are one run of lines that repeats itself.
        if a != b or abs(at - there) >= RUN:
            yield Alike(a, files[a][at].number, b, files[b][there].number)
