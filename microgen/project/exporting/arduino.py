"""A library of Arduino, which cannot set the compile options that results depend on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from microgen.base.errors import ProjectError
from microgen.base.files import FileTree
from microgen.project.exporting import calling
from microgen.project.exporting.component import Component
from microgen.project.exporting.forms import ExportForm, readme, with_options

_SKETCH = "Infer"
_TOP = ("LICENSE", "NOTICE")
# C++ sources are compiled, too, which no code generator has brought so far.
_COMPILED = (".c", ".S", ".cpp", ".cc", ".cxx", ".c++", ".s")


def _make(component: Component) -> FileTree:
    places = _places(component)
    sources = {place: with_options(name, component.files[name]) for name, place in places.items()}
    made = {
        f"src/{component.name}.h": _all_headers(component),
        **sources,
        **{name: component.files[name] for name in _TOP},
        "library.properties": _properties(component),
        f"examples/{_SKETCH}/{_SKETCH}.ino": _sketch(component),
        "README.md": readme(component, "arduino", sketch=_SKETCH),
    }
    return FileTree(made)


def _places(component: Component) -> dict[str, str]:
    """Path in the project -> path in the library. Raises ProjectError if two have one path."""
    compiled = set(component.sources)
    places = {
        name: f"src/{_below(name, component.includes)}"
        for name in component.files
        if name not in (*_TOP, "model/CMakeLists.txt")
        and (name in compiled or not name.endswith(_COMPILED))
    }
    _check_unique(places.values())
    return places


def _below(name: str, includes: Iterable[str]) -> str:
    """The path below the innermost folder of the include path. Files of other folders keep their
    paths, except the model's sources, which move to the top like its headers."""
    folders = [f for f in (*includes, "model/codegen/host/src") if name.startswith(f"{f}/")]
    return name.removeprefix(f"{max(folders, key=len, default='')}/")


def _check_unique(paths: Iterable[str]) -> None:
    # Some file systems ignore case.
    twice = [path for path, count in Counter(path.lower() for path in paths).items() if count > 1]
    if twice:
        raise ProjectError(
            f"two files would have the path {min(twice)} in an Arduino library, which has one "
            "folder of headers",
            hint="export with --as zip or platformio",
        )


def _all_headers(component: Component) -> bytes:
    """The header by which the IDE finds the library, for several models."""
    name = component.name
    lines = [f'#include "{header}"' for header in component.headers if header != f"{name}.h"]
    guard = f"{name.upper()}_ALL_H_"
    text = ["/* SPDX-License-Identifier: Apache-2.0 */", "/* The headers of all models. */"]
    return "\n".join([*text, f"#ifndef {guard}", f"#define {guard}", *lines, "#endif", ""]).encode()


def _properties(component: Component) -> bytes:
    return calling.render("arduino/library.properties", component, archive=_is_unique(component))


def _is_unique(component: Component) -> bool:
    """Whether an archive can hold the object files, whose names have no folders."""
    # Arduino puts objects into an archive by their file names.
    names = [PurePosixPath(source).name for source in component.sources]
    return len(set(names)) == len(names)


def _sketch(component: Component) -> bytes:
    return calling.render("arduino/sketch.ino", component, calling=calling.code(component))


FORM = ExportForm("arduino", "a library for the Arduino IDE and arduino-cli", _make)
