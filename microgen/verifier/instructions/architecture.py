"""The interface between the checks of ``verify`` and instruction sets.

Its implementations are ``arch_arm`` and ``arch_riscv``; ``architectures`` finds a board's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from microgen.target.board import Board
from microgen.target.cpu import Cpu
from microgen.verifier.elf.elf import Elf
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.instructions.machine import Machine, Registers, StackValue


@dataclass(frozen=True, slots=True)
class CallStandard:
    """A procedure call standard: the registers of the first arguments, of the result and of the
    return address, the registers that a function preserves, and the registers that no function
    changes."""

    arguments: tuple[str, ...]
    result: str
    link: str
    preserved: frozenset[str]
    fixed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class InlineTable:
    """A table at ``base``, after the instruction that jumps through it. It has entries of ``width``
    bytes, offsets in units of ``unit`` bytes from ``origin``, which is ``base`` if None."""

    base: int
    width: int
    unit: int
    signed: bool
    origin: int | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """The places at which execution continues after an instruction.

    ``kind`` "next": at the instruction after it. "branch": at ``target`` or after it. "jump" and
    "call": at ``target``, which may be a value from a table; None means unknown. "switch": at the
    entries of ``table``. A "call" with a table continues at the table's entries when it returns.
    "return": at the caller. "stop": nowhere. "handler": after it, and from now on traps go to
    ``target``.
    """

    kind: Literal["next", "branch", "jump", "call", "switch", "return", "stop", "handler"]
    target: StackValue | None = None
    table: InlineTable | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A program's instructions, and everything needed to follow them. ``reset`` is the first
    instruction that the core runs. ``functions`` are names by address. ``registry`` is the address
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
        """The start of the function at or before the address; -1 if there is none."""
        return max((start for start in self.functions if start <= address), default=-1)


class Architecture(Protocol):
    """An instruction set, its procedure call standard, and how its cores start."""

    # ELF's name of the processor.
    elf_machine: str
    # The alignment in bytes of the stack at every call, and of an exception's frame.
    stack_alignment: int
    calls: CallStandard
    # The number that pointers add to the address of code: 1 for Thumb.
    code_bit: int
    # Whether instructions add the parts of an address, as in ``Machine``.
    adds_parts: bool
    # Calls and traps with which a function may end, because they never return.
    falls_through_unless_last: frozenset[str]

    def parse(self, text: str) -> dict[int, Instruction]:
        """Address -> instruction, from the text of ``objdump -d``. Data between instructions
        is left out."""

    def entry(self, code: Code, start: int, /) -> Registers:
        """The registers known at the first instruction of the function at ``start``."""

    def control(self, instruction: Instruction, registers: Registers, code: Code, /) -> Control:
        """The places at which execution continues after an instruction."""

    def vector_table(self, board: Board, /) -> int | None:
        """The address of the core's vectors; None if it has no table in memory."""

    def reset(self, elf: Elf, board: Board, /) -> int:
        """The address at which the core starts, and which the ELF's entry point must name."""

    def stack_top(self, elf: Elf, board: Board, /) -> int:
        """The initial stack pointer; 0 if the image has none."""

    def vectors(
        self, elf: Elf, board: Board, installed: Callable[[], Iterable[int]], /
    ) -> Mapping[str, int]:
        """Reset and every fault by name, with the address that the core finds. ``installed`` are
        the targets of "handler" that the program reaches."""

    def handlers(self, elf: Elf, board: Board, installed: Iterable[int], /) -> Iterable[int]:
        """The first instructions of all exception handlers."""

    def vector_problem(self, address: int) -> str:
        """The problem of a vector's value; empty if there is none."""

    def attributes(self, cpu: Cpu, elf: Elf) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The build attributes that an ELF for the CPU must have, and the attributes of this ELF.
        Attributes with the same meaning are equal here."""

    def flags_problem(self, elf: Elf) -> str:
        """The flags of the ELF header that are unknown, or whose calling conventions contradict the
        build attributes; empty if there are none."""

    def abi_problem(self, flags: Iterable[str], elf: Elf) -> str:
        """The reason why code that GCC compiles with these flags passes floats in another way than
        the ELF; empty if both pass them in the same way."""

    def missing(self, cpu: Cpu, elf: Elf) -> str:
        """The parts of the CPU's instruction set that the ELF's attributes lack; empty if a core
        with these attributes runs code for the CPU."""
