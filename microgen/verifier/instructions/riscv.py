"""RISC-V instructions, read from the text of ``objdump -d``, and the registers after each.

If this module cannot follow the stack pointer, it raises ``UnknownStackPointerError``. It never
guesses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from microgen.verifier.instructions.architecture import Instruction
from microgen.verifier.instructions.listing import UNDEFINED, lines
from microgen.verifier.instructions.values import (
    HANDLER,
    Registers,
    UnknownStackPointerError,
    Value,
    value,
)

_LINE = re.compile(
    r"\s*(?P<address>[0-9a-f]+):\t(?P<encoding>[0-9a-f]{8}|[0-9a-f]{4}) *\t(?P<text>.*)"
)
TRAP_VECTOR = "mtvec"
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")
_MEMORY = re.compile(r"(-?\d+)?\((\w+)\)")

_NO_RESULT = re.compile(
    r"s[bhwd]|fs[wd]|fence.*|nop|pause|wfi|csr[wsc]i?|ret|[msu]ret|unimp|ecall|ebreak|sfence.*"
)
# Zcmp, and vendors' pairs: several registers, including the stack pointer.
_MANY_RESULTS = re.compile(r"cm\..*|th\..*")


def parse(text: str) -> dict[int, Instruction]:
    """Address -> instruction. Data between instructions (``.word`` and so on) is left out."""
    return {instruction.address: instruction for instruction in _instructions(text)}


def _instructions(text: str) -> Iterator[Instruction]:
    for line in lines(text, _LINE, comment="#"):
        operands = line.operands.strip()
        parts = tuple(part.strip() for part in operands.split(",")) if operands else ()
        size = len(line.encoding)
        yield Instruction(line.address, size, line.mnemonic, parts, encoding=line.encoding)


def sets_trap_vector(instruction: Instruction) -> bool:
    """Whether it writes ``mtvec``, or may write it."""
    is_csr = instruction.mnemonic.startswith("csr") and instruction.mnemonic != "csrr"
    return is_csr and TRAP_VECTOR in instruction.operands


def _with_handler(instruction: Instruction, registers: Registers) -> Registers:
    """``csrw mtvec, rs``; the effect of any other instruction is unknown."""
    kept = {name: v for name, v in registers.items() if name != HANDLER}
    if instruction.mnemonic != "csrw":
        kept.pop(instruction.operands[0], None)
        return kept
    handler = registers.get(instruction.operands[-1])
    return kept if handler is None else {**kept, HANDLER: handler}


def pointed(operand: str, known: Registers) -> Value | None:
    """The address that ``a5`` or ``16(a5)`` means."""
    memory = _MEMORY.fullmatch(operand)
    if memory is None:
        return known.get(operand)
    base = _operand(memory[2], known)
    offset = int(memory[1] or 0)
    if base is not None and base.base == "indexed":
        return value("indexed", base.offset + offset)
    return None if base is None else base.plus(value("const", offset), 1)


def _operand(text: str, known: Registers) -> Value | None:
    return _number(text) or known.get(text)


@functools.lru_cache(2**14)
def _number(text: str) -> Value | None:
    if _NUMBER.fullmatch(text):
        return value("const", int(text, 0))
    return Value("const", 0) if text == "zero" else None


@functools.lru_cache(2**10)
def _results(name: str) -> int | None:
    """How many registers an instruction writes, 0 or 1; None if it cannot be followed."""
    if name == UNDEFINED or _MANY_RESULTS.fullmatch(name):
        return None
    return 0 if _NO_RESULT.fullmatch(name) else 1


@dataclass(frozen=True, slots=True)
class Machine:
    """Follows instructions. ``constant`` reads a word of read-only memory and returns None
    elsewhere. ``stack_top`` is the initial stack pointer; code that resets to it is as at its
    entry.

    An address takes two instructions, so between them ``sp`` is a constant that is not a stack.
    Only the second instruction may then use it.
    """

    constant: Callable[[int], int | None]
    stack_top: int

    def step(self, instruction: Instruction, registers: Registers) -> Registers:
        """The registers after the instruction. Raises UnknownStackPointerError."""
        name, operands = instruction.mnemonic, instruction.operands
        results = _results(name)
        if results is None or not _may_use(instruction, registers):
            raise UnknownStackPointerError(str(instruction))
        known = dict(registers)
        if name in ("ebreak", "ecall"):  # semihosting and system calls return in a0
            known.pop("a0", None)
        if sets_trap_vector(instruction):
            return _with_handler(instruction, registers)
        if not operands or not results:
            return known
        result = self._computed(instruction, registers)
        known.pop(operands[0], None)
        if result is not None:
            known[operands[0]] = result
        return self._with_stack(instruction, known)

    def _with_stack(self, instruction: Instruction, known: dict[str, Value]) -> Registers:
        sp = known.get("sp")
        if sp is None or sp.base not in ("sp", "const"):
            raise UnknownStackPointerError(str(instruction))
        if self.stack_top and sp == Value("const", self.stack_top):
            known["sp"] = Value("sp", 0)
        return known

    def _computed(self, instruction: Instruction, known: Registers) -> Value | None:
        name, operands = instruction.mnemonic, instruction.operands
        if name == "lw":
            return self._loaded(operands[-1], known)
        if name == "auipc":
            return value("const", instruction.address + (int(operands[1], 0) << 12))
        if name == "lui":
            return value("const", int(operands[1], 0) << 12)
        if name.startswith(("lr.", "sc.", "amo", "csr", "l")) and name != "li":
            return None
        values = [_operand(text, known) for text in operands[1:]]
        if len(values) == 2:
            return self._of_two(name, values[0], values[1])
        return _of_one(name, values[0]) if len(values) == 1 else None

    def _of_two(self, name: str, left: Value | None, right: Value | None) -> Value | None:
        if name in ("add", "addi"):
            return self._sum(left, right)
        if left is None or right is None:
            return None
        if name == "sub":
            return left.plus(right, -1)
        is_constant = left.base == right.base == "const"
        if name in ("sll", "slli") and is_constant:
            return value("const", left.offset << right.offset % 32)
        return None

    def _sum(self, left: Value | None, right: Value | None) -> Value | None:
        if left is None or right is None:
            return self._indexed(left or right)
        if left.base == "const":
            left, right = right, left
        if right.base != "const":
            return None
        if left.base == "indexed":
            return value("indexed", left.offset + _signed(right.offset))
        if left.base == "table":  # of offsets from the table itself
            return Value("offsets", left.offset) if right.offset == left.offset else None
        return left.plus(right, 1)

    def _indexed(self, table: Value | None) -> Value | None:
        """The sum of a table's address and an unknown index."""
        if table is None or table.base != "const" or self.constant(table.offset) is None:
            return None
        return Value("indexed", table.offset)

    def _loaded(self, memory: str, known: Registers) -> Value | None:
        at = pointed(memory, known)
        word = None if at is None or at.base == "sp" else self.constant(at.offset)
        if at is None or word is None:
            return None
        if at.base == "indexed":
            return Value("table", at.offset)
        return Value("const", word) if at.base == "const" else None


def _of_one(name: str, operand: Value | None) -> Value | None:
    if name in ("mv", "li"):
        return operand
    if operand is None or operand.base != "const":
        return None
    if name == "neg":
        return value("const", -operand.offset)
    return value("const", ~operand.offset) if name == "not" else None


def _signed(offset: int) -> int:
    return (offset + 2**31) % 2**32 - 2**31


def _may_use(instruction: Instruction, registers: Registers) -> bool:
    """Whether the instruction does not use a stack pointer that is not set yet, or sets it."""
    operands = instruction.operands
    if registers["sp"].base == "sp" or not any(re.search(r"\bsp\b", text) for text in operands):
        return True
    reads = any(re.search(r"\bsp\b", text) for text in operands[1:])
    return operands[0] == "sp" and (
        not reads or (instruction.mnemonic in ("add", "addi") and operands[1] == "sp")
    )
