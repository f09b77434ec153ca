"""Boards, read from ``boards/<name>/board.yml``. Code never asks "which board"."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import yaml

from microgen import resources
from microgen.errors import BoardError
from microgen.formats import byte_sizes
from microgen.target.cpu import CPUS, Cpu


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory region. ``access`` is a subset of "rwx". ``origin`` and ``length`` are in bytes; in
    board.yml they may be written ``512K``."""

    name: str
    origin: int
    length: int
    access: str


@dataclass(frozen=True, slots=True)
class Qemu:
    """How QEMU runs the board: the system emulator's name, the machine, further arguments."""

    system: str
    machine: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """A board: CPU, memories, compiler, start-up files and how to run it.

    ``flash`` and ``ram`` name the regions for code and data. ``constants`` names the region for the
    model's constants: ``flash``, or ``large_constants`` if flash is too small and the board has
    such a region. ``arena`` and ``buffers`` name the regions of the workspace and of main's inputs
    and outputs: ``ram``, or ``large_buffers`` if that is too small. ``platform`` names the
    runtime's file in ``crt/src`` ("semihosting" or "posix"), ``startup`` the start-up file
    ("cortex_m" or "riscv"; empty for the host). ``stack_bytes`` is what the linker script
    reserves. ``toolchain`` is the compiler's prefix, empty for the host. ``zephyr`` is the board's
    name in Zephyr 3.4, empty if Zephyr does not have it.
    """

    name: str
    title: str
    cpu: Cpu
    cflags: tuple[str, ...]
    toolchain: str
    platform: str
    startup: str
    memories: tuple[Memory, ...]
    flash: str
    ram: str
    stack_bytes: int
    qemu: Qemu | None
    constants: str = ""
    large_constants: str = ""
    arena: str = ""
    buffers: str = ""
    large_buffers: str = ""
    zephyr: str = ""

    def memory(self, name: str) -> Memory:
        """The region of that name. Raises BoardError if there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise BoardError(f"{self.name} has no memory {name!r}")

    def memory_at(self, address: int) -> Memory | None:
        """The region that has the byte at an address."""
        return next((m for m in self.memories if m.origin <= address < m.origin + m.length), None)

    @property
    def rams(self) -> tuple[Memory, ...]:
        """The writable regions."""
        return tuple(memory for memory in self.memories if "w" in memory.access)

    @property
    def is_host(self) -> bool:
        """Whether the firmware is a program for the machine that builds it."""
        return not self.memories

    def to_json(self) -> dict[str, Any]:
        """Plain data for the manifest."""
        data = asdict(self)
        data["cpu"] = self.cpu.name
        return data


def available() -> tuple[str, ...]:
    """Names of all boards, sorted."""
    return tuple(sorted(p.parent.name for p in resources.folder("boards").glob("*/board.yml")))


def load(name: str) -> Board:
    """The board of that name. Raises BoardError if there is none or its data is wrong."""
    if name not in available():
        raise BoardError(f"there is no board {name!r}", hint=f"boards: {', '.join(available())}")
    path = resources.folder("boards") / name / "board.yml"
    return _of_text(name, path.read_text(encoding="utf-8"), path)


@functools.cache  # each command loads a board several times, and PyYAML takes milliseconds
def _of_text(name: str, text: str, path: Path) -> Board:
    return from_dict(name, yaml.safe_load(text), path)


def of_project(data: Mapping[str, Any]) -> Board:
    """The installed board for which a project was generated, with the memories chosen for it.

    A project is not trusted to name programs and their arguments, so the data that
    ``Board.to_json`` wrote must equal the installed board. Raises BoardError if they differ, or if
    there is no such board.
    """
    data = json.loads(json.dumps(data))  # lists instead of tuples, as in the file
    name = data.get("name")
    if name not in available():
        raise BoardError(
            "the project is for a board that is not installed here",
            where="microgen.json",
            hint=f"boards: {', '.join(available())}",
        )
    installed = load(name)
    chosen: dict[str, Any] = {field: data.get(field) for field in _CHOSEN}
    for field, other in _CHOSEN.items():
        choices = [getattr(installed, field), *filter(None, [getattr(installed, other)])]
        if chosen[field] not in choices:
            _refuse_other(installed.name, [field])
    board = replace(installed, **chosen)
    expected = json.loads(json.dumps(board.to_json()))
    data = json.loads(json.dumps(data))  # a manifest that was never written still has tuples
    if data != expected:
        _refuse_other(board.name, [k for k in expected if data.get(k) != expected[k]])
    return board


# The fields that generation may change, and for each the field that names the only other choice.
_CHOSEN = {
    "constants": "large_constants",
    "arena": "large_buffers",
    "buffers": "large_buffers",
}


def _refuse_other(name: str, fields: Sequence[str]) -> NoReturn:
    what = ", ".join(fields) or "it has further fields"
    raise BoardError(
        f"the project's copy of board {name} is not the installed one ({what})",
        where="microgen.json",
        hint="generate the project again with this microgen",
    )


def from_dict(name: str, data: Any, path: Path) -> Board:
    """A Board from plain data; ``path`` is the file to name in errors."""
    try:
        memories = tuple(_memory(m) for m in data.get("memories", ()))
        qemu = data.get("qemu")
        board = Board(
            name=name,
            title=str(data["title"]),
            cpu=CPUS[data["cpu"]],
            cflags=tuple(map(str, data.get("cflags", ()))),
            toolchain=str(data.get("toolchain", "")),
            platform=str(data["platform"]),
            startup=str(data.get("startup", "")),
            memories=memories,
            flash=str(data.get("flash", "")),
            ram=str(data.get("ram", "")),
            stack_bytes=byte_sizes.of_data(data.get("stack_bytes", 0)),
            qemu=None if qemu is None else Qemu(**{**qemu, "args": tuple(qemu.get("args", ()))}),
            constants=str(data.get("constants", data.get("flash", ""))),
            large_constants=str(data.get("large_constants", "")),
            arena=str(data.get("arena", data.get("ram", ""))),
            buffers=str(data.get("buffers", data.get("ram", ""))),
            large_buffers=str(data.get("large_buffers", "")),
            zephyr=str(data.get("zephyr", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BoardError(f"bad board data: {error!r}", where=str(path)) from error
    regions = {m.name for m in memories}
    used = {board.flash, board.ram, board.constants, board.arena, board.buffers}
    used |= {board.large_constants, board.large_buffers} - {""}
    if memories and not used <= regions:
        raise BoardError(
            f"memories {sorted(used)} are used; they must be among {sorted(regions)}",
            where=str(path),
        )
    return board


def _memory(data: dict[str, Any]) -> Memory:
    length = byte_sizes.of_data(data["length"])
    return Memory(str(data["name"]), int(data["origin"]), length, str(data["access"]))
