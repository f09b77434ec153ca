"""The C files of crt/: what they include, how they are called, how they begin."""

from __future__ import annotations

import functools
import graphlib
import re
from collections import Counter
from pathlib import Path

from microgen import resources

CRT = resources.folder("crt")
FILES = sorted(CRT.rglob("*.[ch]"))


@functools.cache
def _included(file: Path) -> dict[str, list[Path]]:
    """What a file includes with quotes -> the files of crt/ that this may be."""
    names = re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE)
    folders = (CRT / "include", CRT / "src")
    return {name: [f / name for f in folders if (f / name).is_file()] for name in names}


def test_what_is_included_with_quotes_is_one_file_of_crt() -> None:
    assert not [
        f"{file}: {name}"
        for file in FILES
        for name, found in _included(file).items()
        if len(found) != 1
    ]


def test_no_headers_with_their_sources_include_each_other_in_a_circle() -> None:
    needs: dict[str, set[str]] = {}
    for file in FILES:
        others = {path.stem for found in _included(file).values() for path in found}
        needs.setdefault(file.stem, set()).update(others - {file.stem})
    graphlib.TopologicalSorter(needs).prepare()


def test_no_two_sources_have_one_name() -> None:
    """Projects link them in the order of their names, and find a header's source by its name."""
    names = Counter(path.name for path in FILES if path.suffix == ".c")
    assert not [name for name, count in names.items() if count > 1]
