"""The road of ``--ram``: the functions through which a number passes from the command line to the
check of the ELF.

A small network is generated with ``--ram``, built and verified, and every function of microgen is
watched. A function is on the road if it

- gets the number as an argument, also as one value of a list, a dictionary or a namespace,
- returns it, or
- reads it from a field of an object.

Numbers that are computed from it by arithmetic count as the number. A function that is only handed
an object with the number in a field (``Options``, a manifest) is not on the road; the number of
these functions is in the remark, because a reader has to look at each.

The functions are in the order in which the number reaches them first, and a function's folder is
that of its module. Folders: those of the list, each once. Returns: how often the list enters a
folder that it had left.

This module runs in two processes: ``measure`` starts the other one (``python -m``) with the
microgen of the measured tree, because this one may have imported another tree's.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from scripts.house.tree import Figure, Tree

RAM = 39_877  # bytes; a prime, so that no other number of the small project is likely to equal it
_MODEL = "tests/data/small_int8.tflite"
_BOARD = "mps2_an386"
_FIELDS = (
    ("microgen.options", "Options", "ram"),
    ("microgen.base.manifest", "EstimateRecord", "ram_budget"),
    ("microgen.verifier.subject", "Subject", "ram"),
)
_ARITHMETIC = ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "mod", "neg")
_DEPTH = 8  # of objects in objects

Place = tuple[str, str]  # folder and function


class Marked(int):
    """The number, or one that is computed from it."""


def _marked(name: str) -> Any:
    method = getattr(int, name)

    def compute(*numbers: int) -> Any:
        result = method(*numbers)
        return result if result is NotImplemented else Marked(result)

    return compute


for _name in _ARITHMETIC:
    setattr(Marked, f"__{_name}__", _marked(f"__{_name}__"))


def measure(tree: Tree) -> dict[str, Figure] | str:
    """The folders and returns of the road; a reason if the tree's microgen cannot be run."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.house.road", tree.root],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    found = json.loads(done.stdout.splitlines()[-1])
    stops = merged(folder for folder, _ in found["road"])
    places = ", ".join(dict.fromkeys(stops))
    about = f"{len(found['road'])} functions; {found['carriers']} more are handed it in an object"
    return {
        "folders on the road of --ram": Figure(len(set(stops)), places),
        "returns on the road of --ram": Figure(len(stops) - len(set(stops)), about),
    }


def merged(names: Iterable[str]) -> list[str]:
    """The names without those that follow an equal one."""
    stops: list[str] = []
    for name in names:
        if stops[-1:] != [name]:
            stops.append(name)
    return stops


class Watch:
    """Watches the functions of one package. ``road`` and ``carriers`` have the functions that the
    number reaches by itself, and in an object, in the order of time."""

    def __init__(self, package: Path, number: int) -> None:
        self.package, self.number = f"{package}{os.sep}", number
        self.road: dict[CodeType, Place] = {}
        self.carriers: dict[CodeType, Place] = {}
        self._busy = False
        # With the objects, because the identity of one that is gone may be another's.
        self._known: dict[int, tuple[Any, bool]] = {}

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        """The profile function of ``sys.setprofile``."""
        code = frame.f_code
        if self._busy or event not in ("call", "return") or not self._is_own(code):
            return
        self._busy = True  # the fields that are looked at must not count as read
        values = [value] if event == "return" else _arguments(frame)
        if any(map(self._is_named, values)):
            self._reach(code)
        elif code not in self.carriers and any(self._is_inside(one) for one in values):
            self.carriers[code] = self._place(code)
        self._busy = False

    def watch(self, kind: type, field: str) -> None:
        """Count the functions that read a field of a class."""
        stored = kind.__dict__[field]  # the slot, as microgen's data classes have

        def read(instance: Any) -> Any:
            value, frame = stored.__get__(instance), sys._getframe(1)
            if not self._busy and self._is_own(frame.f_code) and self._is_number(value):
                self._reach(frame.f_code)
            return Marked(value) if type(value) is int and value == self.number else value

        setattr(kind, field, property(read, stored.__set__))

    def _reach(self, code: CodeType) -> None:
        self.road.setdefault(code, self._place(code))

    def _is_own(self, code: CodeType) -> bool:
        return code.co_filename.startswith(self.package)

    def _place(self, code: CodeType) -> Place:
        path = Path(code.co_filename.removeprefix(self.package))
        name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
        return path.parent.as_posix(), f"{path.stem}.{name}"

    def _is_number(self, value: Any) -> bool:
        return isinstance(value, Marked) or (type(value) is int and value == self.number)

    def _is_named(self, value: Any) -> bool:
        """Whether an argument is the number, its text, or a collection that has it as a value."""
        values = _values(value) if isinstance(value, list | tuple | dict) else [value]
        values = [*values, *(vars(value).values() if isinstance(value, argparse.Namespace) else ())]
        return any(self._is_number(one) or one == str(self.number) for one in values if _plain(one))

    def _is_inside(self, value: Any, depth: int = _DEPTH) -> bool:
        """Whether an object has the number, in an object of its own or deeper."""
        if _plain(value):
            return self._is_number(value)
        if depth == 0:
            return False
        if not _is_object(value):
            return any(self._is_inside(one, depth - 1) for one in _values(value))
        if id(value) not in self._known:
            inside = any(self._is_inside(one, depth - 1) for one in _values(value))
            self._known[id(value)] = value, inside
        return self._known[id(value)][1]


def _plain(value: Any) -> bool:
    return isinstance(value, int | str)


def _is_object(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _values(value: Any) -> Iterable[Any]:
    """The objects in a collection or in the fields of an object."""
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, dict):
        return value.values()
    if _is_object(value):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return ()


def _arguments(frame: FrameType) -> list[Any]:
    code = frame.f_code
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
    return [frame.f_locals.get(name) for name in names]


def followed(root: Path, project: Path) -> Watch:
    """Run the commands with the microgen of a tree. Raises RuntimeError if one of them fails."""
    sys.path.insert(0, str(root))
    cli = importlib.import_module("microgen.interface.cli")
    watch = Watch(root / "microgen", RAM)
    for module, kind, field in _FIELDS:
        watch.watch(getattr(importlib.import_module(module), kind), field)
    generate = ("generate", str(root / _MODEL), "-b", _BOARD, "-o", str(project))
    for command in (
        (*generate, "--ram", str(RAM)),
        ("build", str(project)),
        ("verify", str(project)),
    ):
        sys.setprofile(watch)
        code = cli.main(command)
        sys.setprofile(None)
        if code:
            raise RuntimeError(f"microgen {command[0]} failed")
    return watch


def main(arguments: Sequence[str]) -> int:
    """Follow the number in one tree, and print the functions as JSON."""
    with tempfile.TemporaryDirectory(prefix="road-") as folder:
        try:
            watch = followed(Path(arguments[0]).resolve(), Path(folder, "project"))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    apart = watch.carriers.keys() - watch.road.keys()
    print(json.dumps({"road": list(watch.road.values()), "carriers": len(apart)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
