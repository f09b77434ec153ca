"""The C files of crt/: their beginnings, includes and names, and that C++ compiles them."""

from __future__ import annotations

import functools
import graphlib
import re
import subprocess
from collections import Counter
from pathlib import Path

from microgen.base import resources
from microgen.kernels import registry
from tests.support.tools import NEEDS_CXX

CRT = resources.folder("crt")
FILES = sorted(CRT.rglob("*.[ch]"))
HEADERS = [path for path in FILES if path.suffix == ".h"]
LICENSE = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def test_every_file_begins_with_its_license() -> None:
    assert not [path for path in FILES if not path.read_text().startswith(LICENSE)]


def test_every_header_says_next_what_it_is_for() -> None:
    texts = {path: path.read_text() for path in HEADERS}
    assert not [path for path, text in texts.items() if not text.startswith(f"{LICENSE}/* ")]


@functools.cache
def _included(file: Path) -> dict[str, list[Path]]:
    """What a file includes in quotes -> the files of crt/ that have this name."""
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


_NO_CODE = re.compile(r"/\*(?:.|\n)*?\*/|^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
_PROTOTYPE = re.compile(r"^(?!static|typedef|MG_)\w[\w *]*\w\([^{}]*?\);", re.MULTILINE)


def test_headers_that_declare_functions_declare_them_as_c() -> None:
    """Headers of TVM's interface do so in a block, others by MG_EXTERN; the test below is about
    kernels."""
    texts = {path: path.read_text() for path in HEADERS}
    declaring = {path for path, text in texts.items() if _PROTOTYPE.search(_NO_CODE.sub("", text))}
    assert all(path.is_relative_to(CRT / "include" / "tvm") for path in declaring)
    assert len(declaring) > 10
    assert not [path for path in declaring if 'extern "C" {' not in texts[path]]


@NEEDS_CXX
def test_kernels_are_c_functions_in_cpp(tmp_path: Path) -> None:
    codes = {kernel.code for found in registry().values() for kernel in found}
    kernels = {code.symbol for code in codes if not code.definition}
    assert len(kernels) > 200
    text = "".join(f'#include "{header}"\n' for header in sorted({code.header for code in codes}))
    used = "".join(f"    (const void *){symbol},\n" for symbol in sorted(kernels))
    (tmp_path / "all.cpp").write_text(f"{text}extern const void *const all[] = {{\n{used}}};\n")
    subprocess.run(["g++", "-w", f"-I{CRT / 'include'}", "-c", "all.cpp"], cwd=tmp_path, check=True)
    listing = subprocess.run(
        ["nm", "-u", "all.o"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert set(re.findall(r" U (mg_\w+)$", listing.stdout, re.MULTILINE)) == kernels


@NEEDS_CXX
def test_cpp_takes_all_headers_together(tmp_path: Path) -> None:
    (tmp_path / "all.cpp").write_text("".join(f'#include "{path}"\n' for path in HEADERS))
    folders = [f"-I{CRT / 'include'}", f"-I{CRT / 'src'}"]
    command = ["g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *folders, "all.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)
