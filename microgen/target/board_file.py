"""Reads ``board.yml``: every mistake is an error with its line and column.

``docs/schemas/board.json`` defines the keys and values. This module checks the rules that a schema
cannot express, for example that memories do not overlap.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from microgen.base import resources
from microgen.base.errors import BoardError, likely, short
from microgen.base.formats import byte_sizes
from microgen.target import board as boards
from microgen.target.board import BLOCKS, Board, Memory
from microgen.target.cpu import CPUS

FILE = "board.yml"
HELP = "`microgen help docs/reference/boards.md` describes every key"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_TAKEN = ("zephyr",)  # boards/zephyr.ld of a project is another file
_MOST_BYTES = 1 << 16
_LEAST_STACK = 256
_TOP = 1 << 32  # all cores have 32-bit addresses
_VECTORS_ALIGNMENT = 128  # VTOR has no lower bits: DDI 0403, B3.2.5
_ESPRESSIF = "rv32im"  # prefixes of the names of the CPUs that ESP-IDF compiles for
_DEFAULT_RIGHTS = {"flash": "rx", "ram": "rw"}
# The fields that name a memory, with the rights that it needs.
_USES = {
    **_DEFAULT_RIGHTS,
    "constants": "r",
    "large_constants": "r",
    "arena": "rw",
    "buffers": "rw",
    "large_buffers": "rw",
}

Way: TypeAlias = "tuple[str | int, ...]"  # keys and indices that lead to a value


@dataclass(frozen=True, slots=True)
class BoardProblem:
    """A wrong value: the path to it, the mistake, and the fix."""

    path: Way
    what: str
    hint: str = HELP
    at_key: bool = False

    def __str__(self) -> str:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        name = "".join(steps).removeprefix(".")
        return f"{name} {self.what}" if name else self.what


def read(path: Path) -> Board:
    """The board of a ``board.yml``; its folder has the board's name. Raises BoardError."""
    try:
        if path.exists() and not path.is_file():  # a pipe would block
            raise BoardError("is not a regular file", where=str(path))
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BoardError(f"cannot be read: {error.strerror}", where=str(path)) from error
    name = Path(os.path.abspath(path)).parent.name
    check_name(name, str(path))
    if len(data) > _MOST_BYTES:
        raise BoardError(
            f"is larger than {_MOST_BYTES:,} bytes, so it is no board", where=str(path)
        )
    return parse(name, data, path)


def check_name(name: str, where: str, hint: str = "rename the folder of board.yml") -> None:
    """Raise BoardError unless a board, and so its folder, may have this name."""
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise BoardError(
            f"{short(name)!r} cannot name a board: expected a letter, then letters, digits and _, "
            f"at most 40, and not {', '.join(_TAKEN)}",
            where=where,
            hint=hint,
        )


def parse(name: str, text: bytes, path: Path) -> Board:
    """The board of that name in the text of a ``board.yml``, which errors call ``path``."""
    try:
        node = _composed(text.decode())
        data = yaml.SafeLoader("").construct_document(node) if node else None
    except yaml.MarkedYAMLError as error:
        raise BoardError(
            ", ".join(filter(None, (error.context, error.problem))),
            where=_place(path, error.problem_mark),
            hint="write it as YAML, as the boards of microgen are",
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BoardError(f"is not YAML: {error}", where=str(path), hint=HELP) from error
    try:
        found = next(_problems(data), None)
    except ValueError as error:  # from Python, about an integer of thousands of digits
        raise BoardError("has a number that is too long", where=str(path), hint=HELP) from error
    if found is None:
        return boards.from_dict(name, data, path)
    at = _node_at(node, found.path, at_key=found.at_key)
    raise BoardError(str(found), where=_place(path, at.start_mark if at else None), hint=found.hint)


def check(data: object, where: str) -> None:
    """Raise BoardError, with the field, unless the data are a valid ``board.yml``."""
    found = next(_problems(data), None)
    if found is not None:
        raise BoardError(str(found), where=where, hint=found.hint)


def _composed(text: str) -> Any:
    """YAML's nodes."""
    # Aliases are refused, because a few of them can mean a huge file.
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(token, yaml.AliasToken):
            raise yaml.MarkedYAMLError(
                problem="found an alias (*name), expected plain values",
                problem_mark=token.start_mark,
            )
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    # PyYAML silently keeps the last of two equal keys.
    for twice in _repeated(node):
        raise yaml.MarkedYAMLError(
            problem=f"{short(str(twice.value))!r} is given twice", problem_mark=twice.start_mark
        )
    return node


def _repeated(node: Any) -> Iterator[Any]:
    """Keys that their mapping already has."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if str(key.value) in seen:
                yield key
            seen.add(str(key.value))
            yield from _repeated(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _repeated(value)


def _node_at(node: Any, path: Way, *, at_key: bool) -> Any:
    """The node of a value, or of its key."""
    for number, step in enumerate(path):
        if isinstance(step, int):
            node = node.value[step]
            continue
        key, value = next(pair for pair in node.value if pair[0].value == str(step))
        node = key if at_key and number == len(path) - 1 else value
    return node


def _place(path: Path, mark: Any) -> str:
    return f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)


def _problems(data: object) -> Iterator[BoardProblem]:
    """The problems of a board's data, the most basic first."""
    # The callers stop at the first problem, so the checks after this may trust the schema.
    yield from sorted(map(_of_schema, _validator().iter_errors(data)), key=lambda p: str(p.path))
    assert isinstance(data, Mapping)  # the schema says so
    yield from _memory_problems(data.get("memories", ()))
    yield from _use_problems(data)
    yield from _layout_problems(data)
    yield from _boot_problems(data)
    yield from _component_problems(data)


@functools.cache
def _validator() -> Any:
    """Python's ``$`` also matches before a line break at the end, so patterns match whole texts."""
    import jsonschema

    def whole(_validator: Any, pattern: str, value: object, _schema: object) -> Iterator[Any]:
        if isinstance(value, str) and not re.fullmatch(pattern, value):
            yield jsonschema.ValidationError("is not as expected")

    base = jsonschema.Draft202012Validator
    return jsonschema.validators.extend(base, {"pattern": whole})(
        json.loads(resources.schema("board"))
    )


def _of_schema(error: Any) -> BoardProblem:
    path = tuple(error.absolute_path)
    known = error.schema.get("properties", {})
    if error.validator == "additionalProperties":
        other = next(key for key in error.instance if key not in known)
        if not isinstance(other, str):
            return BoardProblem(path, f"has the key {short(repr(other))}, expected a word")
        hint = f"{likely(other, known)}{HELP}"
        what = f"is not a key: expected {', '.join(sorted(known))}"
        return BoardProblem((*path, other), what, hint, at_key=True)
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return BoardProblem(path, f"has no {missing}: expected {known[missing]['description']}")
    expected = error.schema.get("description", "another value")
    found = f"is {short(repr(error.instance), 60)}, expected {expected}"
    if path == ("cpu",):
        return BoardProblem(path, found, f"{likely(str(error.instance), CPUS)}{HELP}")
    return BoardProblem(path, found)


def _use_problems(data: Mapping[str, Any]) -> Iterator[BoardProblem]:
    """Memories that are missing, or that the board uses in a wrong way."""
    cpu = CPUS[data["cpu"]]
    if cpu.architecture == "host":
        if "memories" in data:
            yield BoardProblem(("memories",), "are given for the host, which has none", at_key=True)
        return
    if "memories" not in data:
        yield BoardProblem((), "the board has no memories: expected at least flash and ram")
        return
    numbers = {memory["name"]: number for number, memory in enumerate(data["memories"])}
    for field, needed in _USES.items():
        name = data.get(field, field if field in _DEFAULT_RIGHTS else None)
        path: Way = (field,) if field in data else ("memories",)
        if name is None:
            continue
        if name not in numbers:
            listed = ", ".join(numbers)
            what = f"has no {name!r} for {field}: expected one of {listed}"
            yield BoardProblem(path, what, at_key=field not in data)
            continue
        access = data["memories"][numbers[name]]["access"]
        if not set(needed) <= set(access):
            what = f"is {access}, expected {needed}, because {field} is in {name}"
            yield BoardProblem(("memories", numbers[name], "access"), what)
        if "w" in needed and name == data.get("flash", "flash"):
            what = f"is {name}, the memory for code: expected another one"
            hint = "split the memory into two, one for code (rwx) and one for data (rw)"
            yield BoardProblem(path, what, hint, at_key=field not in data)


def _memory_problems(found: Any) -> Iterator[BoardProblem]:
    memories: list[Memory] = []
    for number, one in enumerate(found):
        path: Way = ("memories", number)
        try:
            length = byte_sizes.of_data(one["length"])
        except ValueError as error:
            yield BoardProblem((*path, "length"), f"is wrong: {error}")
            return
        memory = Memory(one["name"], one["origin"], length, one["access"])
        if not 0 < length <= _TOP - memory.origin:
            what = f"is {one['length']}, expected 1 byte to the end of 32-bit addresses"
            yield BoardProblem((*path, "length"), what)
        for other in memories:
            if other.name == memory.name:
                yield BoardProblem(
                    (*path, "name"), f"is {memory.name}, which another memory is called"
                )
            if memory.origin < other.origin + other.length and (
                other.origin < memory.origin + length
            ):
                yield BoardProblem((*path, "origin"), f"makes it overlap the memory {other.name}")
        memories.append(memory)


def _layout_problems(data: Mapping[str, Any]) -> Iterator[BoardProblem]:
    """Code that cannot begin with vectors, and a stack that cannot fit."""
    named = {one["name"]: number for number, one in enumerate(data.get("memories", ()))}
    if not named:
        return
    number = named[data.get("flash", "flash")]
    origin = data["memories"][number]["origin"]
    if origin % _VECTORS_ALIGNMENT:
        yield BoardProblem(
            ("memories", number, "origin"),
            f"is {origin:#x}, expected a multiple of {_VECTORS_ALIGNMENT}, because the memory for "
            "code begins with the vectors",
        )
    if "stack_bytes" not in data:
        return
    stack = byte_sizes.of_data(data["stack_bytes"])
    ram = data["memories"][named[data.get("ram", "ram")]]
    if not _LEAST_STACK <= stack < byte_sizes.of_data(ram["length"]):
        what = f"is {stack}, expected {_LEAST_STACK} or more, and less than {ram['name']} has"
        yield BoardProblem(("stack_bytes",), what)


def _component_problems(data: Mapping[str, Any]) -> Iterator[BoardProblem]:
    if "component" not in data:
        return
    if not str(data["cpu"]).startswith(_ESPRESSIF):
        what = f"is {data['component']}, whose cores are {_ESPRESSIF}..., but cpu is {data['cpu']}"
        yield BoardProblem(("component",), what)


def _boot_problems(data: Mapping[str, Any]) -> Iterator[BoardProblem]:
    """A boot block for another core, or for flash at another address."""
    if "boot" not in data:
        return
    block, name = BLOCKS[data["boot"]], data.get("flash", "flash")
    if not str(data["cpu"]).startswith(block.core):
        what = f"is {data['boot']}, whose core is {block.core}, but cpu is {data['cpu']}"
        yield BoardProblem(("boot",), what)
        return
    found = next(n for n, one in enumerate(data["memories"]) if one["name"] == name)
    if data["memories"][found]["origin"] != block.origin:
        what = f"is wrong: with boot {data['boot']} flash is at {block.origin:#x}"
        yield BoardProblem(("memories", found, "origin"), what)
