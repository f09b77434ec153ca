"""What an architecture is to ``verify``: the interface between checks and instruction sets.

Its implementations are ``arch_arm`` and ``arch_riscv``; ``architectures`` finds a board's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from microgen.target.board import Board
from microgen.target.cpu import Cpu
from microgen.verifier.elf import Elf
from microgen.verifier.values import Registers, Value


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. ``mnemonic`` is without width (``.w``) and, inside an IT block, without
    the condition, which ``condition`` stands for. Operands are as objdump prints them.

    Behind the first of several instructions under one condition the others have none: whoever
    reaches them has met it. ``skip_to`` is where who has not continues, behind the last.
    """

    address: int
    size: int
    mnemonic: str
    operands: tuple[str, ...]
    condition: str = ""
    skip_to: int = 0

    @property
    def is_conditional(self) -> bool:
        """Whether it may be passed over."""
        return bool(self.condition)

    @property
    def next(self) -> int:
        """The address behind it."""
        return self.address + self.size

    @property
    def target(self) -> int:
        """Where a direct branch goes: its last operand, ``<address> <name>``."""
        return int(self.operands[-1].split()[0], 16)

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}"


@dataclass(frozen=True, slots=True)
class InlineTable:
    """A table at ``base``, behind the instruction that jumps through it: entries of ``width``
    bytes, offsets in units of ``unit`` bytes from ``origin``, which is ``base`` if None."""

    base: int
    width: int
    unit: int
    signed: bool
    origin: int | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """Where control goes behind an instruction.

    ``kind`` "next": to the instruction behind. "branch": to ``target`` or behind. "jump" and
    "call": to ``target``, whose value may be a table's; None is not known. "switch": through
    ``table``; a "call" with a table jumps through it when it returns. "return": to the caller.
    "stop": nowhere. "handler": behind, and ``target`` is from now on where traps go.
    """

    kind: Literal["next", "branch", "jump", "call", "switch", "return", "stop", "handler"]
    target: Value | None = None
    table: InlineTable | None = None


class Machine(Protocol):
    """Follows the values of registers."""

    def step(self, instruction: Instruction, registers: Registers) -> Registers:
        """Registers behind the instruction. Raises UnknownStackPointerError."""


@dataclass(frozen=True, slots=True)
class Code:
    """A program's instructions and what is needed to follow them. ``reset`` is the first
    instruction that the core runs, ``functions`` are names by address; ``registry`` is the address
    of the graph executor's table of functions, 0 if there is none."""

    arch: Architecture
    elf: Elf
    board: Board
    instructions: Mapping[int, Instruction]
    machine: Machine
    functions: Mapping[int, str]
    reset: int
    registry: int = 0

    def name(self, address: int) -> str:
        """The function at or before the address, for messages."""
        return self.functions.get(self.owner(address), f"{address:#x}")

    def owner(self, address: int) -> int:
        """Where the function at or before the address starts; -1 if there is none."""
        return max((start for start in self.functions if start <= address), default=-1)


class Architecture(Protocol):
    """An instruction set, its procedure call standard, and how its cores start."""

    @property
    def stack_alignment(self) -> int:
        """Bytes; of every call, and of an exception's frame."""

    @property
    def falls_through_unless_last(self) -> frozenset[str]:
        """Calls and traps: a function may end with one, because it never returns."""

    def parse(self, text: str) -> dict[int, Instruction]:
        """Address -> instruction, from the text of ``objdump -d``. Data between instructions
        is left out."""

    def machine(self, constant: Callable[[int], int | None], stack_top: int) -> Machine:
        """``constant`` reads a word of read-only memory, None elsewhere; ``stack_top`` is the
        initial stack pointer: code that resets to it is as at its entry."""

    def entry(self, code: Code, start: int, /) -> Registers:
        """What is known at the first instruction of the function at ``start``."""

    def after_call(self, registers: Registers) -> Registers:
        """What a called function leaves."""

    def control(self, instruction: Instruction, registers: Registers, code: Code, /) -> Control:
        """Where control goes."""

    def vector_table(self, board: Board, /) -> int | None:
        """Where the core looks for its vectors; None if it has no table in memory."""

    def reset(self, elf: Elf, board: Board, /) -> int:
        """Where the core starts, as the ELF's entry point must name it."""

    def stack_top(self, elf: Elf, board: Board, /) -> int:
        """The initial stack pointer; 0 if the image has none."""

    def vectors(
        self, elf: Elf, board: Board, installed: Callable[[], Iterable[int]], /
    ) -> Mapping[str, int]:
        """Reset and every fault by name, as the core finds them. ``installed``: the targets of
        "handler" that the program reaches."""

    def handlers(self, elf: Elf, board: Board, installed: Iterable[int], /) -> Iterable[int]:
        """The first instructions of all handlers of exceptions."""

    def vector_problem(self, address: int) -> str:
        """What is wrong with a vector's value, empty if nothing is."""

    def attributes(self, cpu: Cpu, elf: Elf) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Build attributes that an ELF for the CPU has, and those that this one has; equal where
        what they say is equal."""
