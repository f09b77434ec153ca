"""Boards, read from ``boards/<name>/board.yml``. Code never asks "which board"."""

from __future__ import annotations

import functools
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from microgen.base import resources
from microgen.base.errors import BoardError
from microgen.base.formats import byte_sizes
from microgen.target.cpu import CPUS, Cpu

DEFAULT_STACK, _LEAST_STACK = 4096, 2048  # bytes
OPTIONAL = ("clock_hz", "flash_wait_states", "debug_probe", "boot", "component")


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
class BootBlock:
    """Bytes that a boot ROM needs in flash before it starts a program there: a "second stage" or an
    "image definition". ``source`` is its file in ``crt/src/platform``, ``boot_<name>.S``. It takes
    ``nbytes`` bytes of flash, which is at ``origin``: in front of the vectors if ``is_first``,
    otherwise after them. ``core`` is the prefix of the names of the CPUs whose boot ROM needs the
    block."""

    kind: str
    source: str
    nbytes: int
    origin: int
    is_first: bool
    core: str

    @property
    def name(self) -> str:
        """The name that board.yml gives as ``boot``: the chip's."""
        return self.source.removeprefix("boot_").removesuffix(".S")

    @property
    def before_vectors(self) -> int:
        """The bytes from the start of flash to the vectors."""
        return self.nbytes if self.is_first else 0


# Sources: RP2040 datasheet, 2.7.2.3 (the second stage and its checksum); RP2350 datasheet, 5.9.5
# (the least metadata of an image).
BLOCKS = {
    block.name: block
    for block in (
        BootBlock("second stage", "boot_rp2040.S", 256, 0x10000000, True, "cortex-m0plus"),
        BootBlock("image definition", "boot_rp2350.S", 20, 0x10000000, False, "cortex-m33"),
    )
}


@dataclass(frozen=True, slots=True)
class Board:
    """A board: CPU, memories, compiler, start-up files and how to run it.

    ``flash`` and ``ram`` name the regions for code and data. ``constants`` names the region for the
    model's constants: ``flash``, or ``large_constants`` if flash is too small and the board has
    such a region. ``arena`` and ``buffers`` name the regions of the workspace and of main's inputs
    and outputs: ``ram``, or ``large_buffers`` if that is too small. ``platform`` names the
    runtime's file in ``crt/src`` ("semihosting" or "posix"), ``startup`` the start-up file
    ("cortex_m" or "riscv"; empty for the host). ``stack_bytes`` is the stack that the linker script
    reserves. ``generate`` replaces it by the need of the code, unless the board ``has_stack``: its
    ``board.yml`` states the stack. ``toolchain`` is the compiler's prefix, empty for the host.
    ``zephyr`` is the board's name in Zephyr 3.4, empty if Zephyr does not have it. ``clock_hz`` is
    the CPU's clock, ``flash_wait_states`` the flash's at that clock, and ``debug_probe`` the name
    of the board's debugger; 0 or empty if they are not known. ``boot`` names the block that its
    boot ROM wants to find in flash (``boot.BLOCKS``), ``component`` the framework that makes its
    firmware ("esp-idf"), in which the model is a component; each is empty if there is none.
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
    clock_hz: int = 0
    flash_wait_states: int = 0
    debug_probe: str = ""
    boot: str = ""
    component: str = ""
    has_stack: bool = field(default=False, compare=False)

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
        """The writable regions for data: all but the code's, which may be RAM, too."""
        return tuple(m for m in self.memories if "w" in m.access and m.name != self.flash)

    @property
    def boot_block(self) -> BootBlock | None:
        """The block that the boot ROM wants to find in flash."""
        return BLOCKS.get(self.boot)

    @property
    def vectors(self) -> int:
        """The address of the vectors, or of the first instruction on a core without them."""
        block = self.boot_block
        return self.memory(self.flash).origin + (block.before_vectors if block else 0)

    @property
    def is_host(self) -> bool:
        """Whether the firmware is a program for the machine that builds it."""
        return not self.memories

    def to_json(self) -> dict[str, Any]:
        """Plain data for the manifest. Fields of ``OPTIONAL`` without a value are left out."""
        data = asdict(self)
        data["cpu"] = self.cpu.name
        # ``has_stack`` describes board.yml. A manifest has the stack that was decided.
        del data["has_stack"]
        return {key: value for key, value in data.items() if value or key not in OPTIONAL}


def available() -> tuple[str, ...]:
    """Names of all installed boards, sorted."""
    folder = resources.folder("boards")
    return tuple(sorted(name for name in os.listdir(folder) if _is_board(folder, name)))


def _is_board(folder: Path, name: str) -> bool:
    return os.path.isfile(f"{folder}/{name}/board.yml")


def load(name: str) -> Board:
    """The installed board of that name. Raises BoardError if there is none or its data is wrong."""
    folder = resources.folder("boards")
    if name not in os.listdir(folder) or not _is_board(folder, name):
        raise BoardError(f"there is no board {name!r}", hint=f"boards: {', '.join(available())}")
    path = folder / name / "board.yml"
    return _of_text(name, path.read_text(encoding="utf-8"), path)


@functools.cache  # each command loads a board several times, and PyYAML takes milliseconds
def _of_text(name: str, text: str, path: Path) -> Board:
    return from_dict(name, yaml.safe_load(text), path)


def from_dict(name: str, data: Any, path: Path) -> Board:
    """A Board from plain data; ``path`` is the file to name in errors. Data from elsewhere was
    checked by ``board_file`` before."""
    try:
        cpu = CPUS[data["cpu"]]
        memories = tuple(_memory(m) for m in data.get("memories", ()))
        qemu = data.get("qemu")
        board = Board(
            name=name,
            cpu=cpu,
            cflags=tuple(map(str, data.get("cflags", ()))),
            memories=memories,
            stack_bytes=byte_sizes.of_data(data.get("stack_bytes", 0)),
            has_stack="stack_bytes" in data,
            qemu=None if qemu is None else Qemu(**{**qemu, "args": tuple(qemu.get("args", ()))}),
            clock_hz=int(data.get("clock_hz", 0)),
            flash_wait_states=int(data.get("flash_wait_states", 0)),
            **_texts(data, cpu),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BoardError(f"bad board data: {error!r}", where=str(path)) from error
    if memories and not board.has_stack:
        board = replace(board, stack_bytes=_default_stack(board))
    regions = {m.name for m in memories}
    used = {board.flash, board.ram, board.constants, board.arena, board.buffers}
    used |= {board.large_constants, board.large_buffers} - {""}
    if memories and not used <= regions:
        raise BoardError(
            f"memories {sorted(used)} are used; they must be among {sorted(regions)}",
            where=str(path),
        )
    return board


def _default_stack(board: Board) -> int:
    lengths = [memory.length for memory in board.memories if memory.name == board.ram]
    # At most an eighth of RAM, because cores with little RAM need the rest for the arena.
    return max(_LEAST_STACK, min(DEFAULT_STACK, sum(lengths) // 8))


def _texts(data: dict[str, Any], cpu: Cpu) -> dict[str, str]:
    """The fields that are texts."""
    # Missing ones follow from the CPU or another field.
    flash, ram = (data.get(name, name if cpu.startup else "") for name in ("flash", "ram"))
    implied = {
        "toolchain": cpu.toolchain,
        "platform": cpu.platform,
        "startup": cpu.startup,
        "flash": flash,
        "ram": ram,
        "constants": flash,
        "arena": ram,
        "buffers": ram,
    }
    optional = ("large_constants", "large_buffers", "zephyr", "debug_probe", "boot", "component")
    empty = dict.fromkeys(optional, "")
    texts = {"title": data["title"], **empty, **implied}
    return {field: str(data.get(field, text)) for field, text in texts.items()}


def _memory(data: dict[str, Any]) -> Memory:
    length = byte_sizes.of_data(data["length"])
    return Memory(str(data["name"]), int(data["origin"]), length, str(data["access"]))
