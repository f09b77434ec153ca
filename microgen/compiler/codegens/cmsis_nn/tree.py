"""CMSIS-NN's sources: the folder that the user names, the files that a project needs, and the forms
in which they compile."""

from __future__ import annotations

import enum
import functools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from microgen.base.errors import MicrogenError
from microgen.target.cpu import Cpu, Feature

# The three forms in which CMSIS-NN compiles.


class LibraryForm(enum.Enum):
    """CMSIS-NN's form for a CPU. Its headers choose the same from the compiler's macros:
    ``ARM_MATH_MVEI``, else ``ARM_MATH_DSP``, else neither, as on every CPU that is not Arm's."""

    PLAIN = "plain"
    DSP = "dsp"
    MVE = "mve"

    @classmethod
    def of(cls, cpu: Cpu) -> LibraryForm:
        """The form for a CPU."""
        if Feature.MVE in cpu.features:
            return cls.MVE
        return cls.DSP if Feature.DSP in cpu.features else cls.PLAIN


OPTION = "--codegen-option cmsis-nn.path=DIR"
VARIABLE = "CMSIS_NN_PATH"
INCLUDE = "Include"
VERSIONS = {"18.0.0": "7.0.0"}  # revision of arm_nnfunctions.h -> version of CMSIS-NN
_HEADER = "Include/arm_nnfunctions.h"
_LICENSE = "LICENSE"
_ZEPHYR_MODULE = Path("..", "modules", "lib", "cmsis-nn")  # from ZEPHYR_BASE, where west puts it

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_INCLUDED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_REVISION = re.compile(r"\$Revision:\s*V\.([0-9.]+)")
_WORD = re.compile(r"\barm_\w+(?=\s*\()")
# A function that other files see: a type at the start of a line, its name, its parameters, and
# then a body.
_DEFINED = re.compile(
    r"^(?!static\b|__STATIC|#|typedef\b|return\b)[A-Za-z_][\w \t*]*?\b(arm_\w+)\s*\([^;{}]*\)\s*\{",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Tree:
    """CMSIS-NN's sources below ``root``."""

    root: Path

    def files(self, functions: Iterable[str]) -> dict[str, bytes]:
        """The files for ``functions``, by path: their definitions, everything that they call, all
        included files, and the licence. Raises MicrogenError if a file is missing."""
        wanted, done = sorted(set(functions)), set[str]()
        sources: set[str] = set()
        while wanted:
            function = wanted.pop()
            done.add(function)
            path = self._defined().get(function)
            if path is None:
                raise self._broken(f"no source defines {function}")
            # A source may define several functions, and is read once.
            if path not in sources:
                sources.add(path)
                # A word may also be a macro or a static function, which no other source defines.
                called = set(_WORD.findall(self._code(path))) & self._defined().keys()
                wanted += sorted(called - done - set(wanted))
        names = sorted({*sources, *self._included(sources), _LICENSE})
        return {name: self._read(name) for name in names}

    def _defined(self) -> Mapping[str, str]:
        return _definitions(self.root)

    def _code(self, path: str) -> str:
        return _without_comments(self._read(path))

    def _included(self, sources: Iterable[str]) -> set[str]:
        wanted, found = {_HEADER, *sources}, set[str]()
        while wanted:
            path = wanted.pop()
            if path.startswith(INCLUDE):
                found.add(path)
            for name in _INCLUDED.findall(self._code(path)):
                wanted |= {self._header(path, name)} - found
        return found

    def _header(self, includer: str, name: str) -> str:
        beside = Path(includer).parent / name
        # The includer's own folder comes first, as in C.
        known = beside if (self.root / beside).is_file() else Path(INCLUDE, name)
        return known.as_posix()

    def _read(self, path: str) -> bytes:
        try:
            return (self.root / path).read_bytes()
        except OSError as error:
            raise self._broken(f"cannot read {path} ({error.strerror})") from error

    def _broken(self, what: str) -> MicrogenError:
        supported = " or ".join(VERSIONS.values())
        return MicrogenError(
            f"this is not a complete source tree of CMSIS-NN: {what}",
            where=str(self.root),
            hint=f"name the folder of CMSIS-NN {supported}, {OPTION}",
        )


@functools.cache
def _definitions(root: Path) -> Mapping[str, str]:
    """Function -> path of the source that defines it."""
    # Sorted, because the order of a folder's files differs between systems.
    paths = sorted(path.relative_to(root).as_posix() for path in root.glob("Source/*/*.c"))
    texts = {path: _without_comments((root / path).read_bytes()) for path in paths}
    return {name: path for path, text in texts.items() for name in _DEFINED.findall(text)}


def _without_comments(contents: bytes) -> str:
    return _COMMENT.sub(" ", contents.decode("utf-8", "replace"))


def find(named: str | None, environment: Mapping[str, str] = os.environ) -> Tree:
    """The tree at the path that the user named: by the option, else by the environment, else
    Zephyr's module next to ZEPHYR_BASE. Raises MicrogenError if there is none, or another
    version."""
    path = named or environment.get(VARIABLE) or _zephyr_module(environment)
    if not path:
        raise MicrogenError(
            "no source tree of CMSIS-NN is named",
            where="cmsis-nn",
            hint=f"say where it is with {OPTION} or the environment variable {VARIABLE}",
        )
    tree = Tree(Path(path))
    _check_version(tree)
    return tree


def _zephyr_module(environment: Mapping[str, str]) -> str:
    base = environment.get("ZEPHYR_BASE")
    module = Path(base) / _ZEPHYR_MODULE if base else None
    return str(module) if module and (module / _HEADER).is_file() else ""


def _check_version(tree: Tree) -> None:
    found = _REVISION.search(tree._read(_HEADER).decode("utf-8", "replace"))
    revision = found[1] if found else "none"
    if revision not in VERSIONS:
        known = " or ".join(f"{r} (CMSIS-NN {v})" for r, v in VERSIONS.items())
        raise MicrogenError(
            f"{_HEADER} has revision {revision}; {known} is expected",
            where=str(tree.root),
            hint=f"name the folder of a supported version, {OPTION}",
        )
