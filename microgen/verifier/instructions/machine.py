"""The effects of instructions on the values of the stack walk, for every instruction set.

Only values that lead to the stack pointer or to a pointer to a function are known. If the stack
pointer cannot be followed, this raises ``UnknownStackPointerError``. It never guesses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from microgen.verifier.instructions.instruction import (
    OF_NUMBERS,
    Effect,
    EffectiveAddress,
    Instruction,
    Number,
    Register,
    Relative,
    Source,
)

_WORD = 2**32  # addresses wrap

Base = Literal["sp", "const", "table", "indexed", "offsets", "link"]


class UnknownStackPointerError(Exception):
    """An instruction writes the stack pointer in a way that cannot be followed."""


class StackValue(NamedTuple):
    """A value of a register that is known. Values of other kinds are treated as unknown.

    ``base`` "sp": the stack pointer at the function's entry plus ``offset``. "const": ``offset``
    itself. "table": an unknown word of the constant table at address ``offset``.
    "indexed": the address of such a word. "offsets": the table's address plus such a word.
    "link": the function's return address.
    """

    base: Base
    offset: int

    def plus(self, other: StackValue | None, sign: int) -> StackValue | None:
        """The sum or difference with a constant; None if the result is not known."""
        if other is None or other.base != "const" or self.base not in ("sp", "const"):
            return None
        return value(self.base, self.offset + sign * other.offset)


def value(base: Base, offset: int) -> StackValue:
    """The value with its offset in the range of 32 bits, which is signed for the stack pointer."""
    if base == "sp":  # small and signed
        return StackValue(base, (offset + _WORD // 2) % _WORD - _WORD // 2)
    return StackValue(base, offset % _WORD)


Registers = Mapping[str, StackValue]
HANDLER = "handler"  # a key among the registers: the address of the trap handler, once it is set
ENTRY: Registers = {"sp": StackValue("sp", 0)}


def depth(registers: Registers) -> int:
    """Bytes that the function has on the stack; 0 before it has a stack."""
    sp = registers["sp"]
    return -sp.offset if sp.base == "sp" else 0


def has_stack(registers: Registers) -> bool:
    """Whether the stack pointer is set. Start-up code runs before that, and sets it in more
    than one instruction."""
    return registers["sp"].base == "sp"


def joined(a: Registers, b: Registers) -> Registers:
    """The values that are known after two paths meet: the equal values, and the deeper stack
    pointer. Raises UnknownStackPointerError if only one path has a stack."""
    common = {name: value for name, value in a.items() if b.get(name) == value}
    if has_stack(a) and has_stack(b):
        # The deeper pointer is a bound for both paths, although it is the pointer of only one path.
        common["sp"] = StackValue("sp", min(a["sp"].offset, b["sp"].offset))
    if "sp" not in common:
        raise UnknownStackPointerError("paths that meet with different stacks")
    return common


_SP = re.compile(r"\bsp\b")


@dataclass(frozen=True, slots=True)
class Machine:
    """Follows instructions. ``constant`` reads a word of read-only memory and returns None
    elsewhere. ``stack_top`` is the initial stack pointer, 0 if it is not known; code that resets to
    it is as at its entry.

    ``adds_parts``: an address takes two instructions, as on RISC-V. So between them ``sp`` is a
    constant that is not a stack, and only the second instruction may then use it. A table's index
    is added before the load. On Arm a load has base and index itself.
    """

    constant: Callable[[int], int | None]
    stack_top: int
    adds_parts: bool

    def step(self, instruction: Instruction, registers: Registers) -> Registers:
        """The registers after the instruction. Raises UnknownStackPointerError."""
        effect = instruction.effect
        # An unknown encoding may change the stack pointer. Before there is a stack, an instruction
        # that uses the stack pointer could access any memory (`_may_use`).
        if effect.operation == "undefined" or not _may_use(instruction, registers):
            raise UnknownStackPointerError(str(instruction))
        # Before the result, because a clobbered register may be the target.
        known = {name: v for name, v in registers.items() if name not in effect.clobbers}
        if effect.operation == "install":
            known.pop(HANDLER, None)
        result = self._computed(instruction, registers)
        # A write to RISC-V's `zero` has no target.
        target = HANDLER if effect.operation == "install" else next(iter(effect.targets), "")
        if result is not None and target:
            known[target] = result
        _write_back(effect, registers, known)
        return self._with_stack(instruction, known)

    def pointed(self, address: EffectiveAddress, known: Registers) -> StackValue | None:
        """The value of ``base + offset``."""
        base = _of_source(address.base, 0, known)
        if base is not None and base.base == "indexed":
            return value("indexed", base.offset + address.offset)
        if base is None or not address.offset:
            return base
        return base.plus(value("const", address.offset), 1)

    def _with_stack(self, instruction: Instruction, known: dict[str, StackValue]) -> Registers:
        sp = known.get("sp")
        if sp is not None and sp.base == "const":
            if self.stack_top and sp.offset == self.stack_top:
                return {**known, "sp": StackValue("sp", 0)}
            if self.adds_parts:
                return known
        if sp is None or sp.base != "sp":
            raise UnknownStackPointerError(str(instruction))
        return known

    def _computed(self, instruction: Instruction, before: Registers) -> StackValue | None:
        effect = instruction.effect
        values = [_of_source(source, instruction.address, before) for source in effect.sources]
        match effect.operation:
            case "move" | "install" if values:
                return values[0]
            case "load":
                return self._loaded(effect, instruction.address, before)
            case "add" | "subtract":
                left, right = values if len(values) > 1 else (_target(effect, before), *values)
                if effect.operation == "add":
                    return self._sum(left, right)
                return None if left is None else left.plus(right, -1)
            case "clear bits":
                first, count = values
                return _aligned(_target(effect, before), count if first == _ZERO else None)
            # Compilers align the stack by `bic` or `bfc`. Other masks are of no use here.
            case "and not" if len(values) == 2 and not effect.sets_flags:
                return _aligned(values[0], _mask_bits(values[1]))
        numbers = [v.offset for v in values if v is not None and v.base == "const"]
        is_known = bool(values) and len(numbers) == len(values)
        return _of_numbers(effect, numbers, before) if is_known else None

    def _sum(self, left: StackValue | None, right: StackValue | None) -> StackValue | None:
        if left is None or right is None:
            return self._indexed(left or right)
        if left.base == "const":
            left, right = right, left
        if right.base != "const":
            return None
        if left.base == "indexed":
            return value("indexed", left.offset + right.offset)
        if left.base == "table" and self.adds_parts:  # of offsets from the table itself
            return StackValue("offsets", left.offset) if right.offset == left.offset else None
        return left.plus(right, 1)

    def _indexed(self, table: StackValue | None) -> StackValue | None:
        """The sum of a table's address and an unknown index."""
        is_table = table is not None and self.adds_parts and self._is_constant(table)
        return StackValue("indexed", table.offset) if table is not None and is_table else None

    def _is_constant(self, place: StackValue) -> bool:
        return place.base == "const" and self.constant(place.offset) is not None

    def _loaded(self, effect: Effect, address: int, known: Registers) -> StackValue | None:
        access = effect.access
        if access is None or access.size != 4 or effect.update:
            return None
        if access.address.index:
            # Other paths have other indices here, so only the base matters.
            base = _of_source(access.address.base, address, known)
            index = None if access.address.shift else known.get(access.address.index)
            table = _base(base, index)
            is_table = table is not None and self._is_constant(table)
            return StackValue("table", table.offset) if table is not None and is_table else None
        at = self.pointed(_fixed(access.address, address), known)
        word = None if at is None or at.base == "sp" else self.constant(at.offset)
        if at is None or word is None:
            return None
        if at.base == "indexed":
            return StackValue("table", at.offset)
        return StackValue("const", word) if at.base == "const" else None


_ZERO = StackValue("const", 0)


def _fixed(address: EffectiveAddress, place: int) -> EffectiveAddress:
    """The value of an address operand for an instruction at ``place``."""
    if isinstance(address.base, Relative):
        return EffectiveAddress(Number(address.base.at(place)), address.offset)
    return address


def _of_source(source: Source, address: int, known: Registers) -> StackValue | None:
    if isinstance(source, Register):
        return known.get(source.name)
    if isinstance(source, Number):
        return value("const", source.value)
    return value("const", source.at(address)) if isinstance(source, Relative) else None


def _target(effect: Effect, before: Registers) -> StackValue | None:
    return before.get(effect.targets[0])


def _base(left: StackValue | None, right: StackValue | None) -> StackValue | None:
    """The base of an indexed load."""
    if left is None or right is None:
        return left or right
    # Either register may be the base; of two constants it is the larger.
    return right if left.offset < right.offset else left


def _of_numbers(effect: Effect, numbers: list[int], before: Registers) -> StackValue | None:
    """Instructions for constants that are too wide for one instruction."""
    operation = effect.operation
    if operation == "move top":
        low = _target(effect, before)
        # Its lower half is kept, so that has to be a number, too.
        is_number = low is not None and low.base == "const"
        numbers = [low.offset, *numbers] if low is not None and is_number else []
    if operation in ("move top", "shift left", "shift left modulo") and len(numbers) == 2:
        return value("const", OF_NUMBERS[operation](numbers[0], numbers[1]))
    if operation in ("not", "not number"):
        return value("const", ~numbers[0])
    if operation == "subtract from" and numbers[1:] == [0]:
        return value("const", -numbers[0])
    return None


def _aligned(source: StackValue | None, bits: StackValue | None) -> StackValue | None:
    """The stack pointer rounded down by clearing its low bits: the lowest possible result, because
    the amount is not known."""
    if source is None or source.base != "sp" or bits is None:
        return None
    # The hardware keeps the pointer a multiple of 4, so at most 2**bits - 4 bytes are lost.
    return value("sp", source.offset - max((1 << bits.offset) - 4, 0))


def _mask_bits(mask: StackValue | None) -> StackValue | None:
    """The number of set bits of a mask whose set bits are all at its low end."""
    if mask is None or mask.base != "const" or mask.offset & (mask.offset + 1):
        return None
    return StackValue("const", mask.offset.bit_length())


def _write_back(effect: Effect, before: Registers, known: dict[str, StackValue]) -> None:
    if effect.update is None:
        return
    register, change = effect.update.register, effect.update.change
    old = before.get(register)
    # A table's word plus a number is not a word of the table.
    if old is None or change is None or old.base == "table":
        known.pop(register, None)
    else:
        known[register] = value(old.base, old.offset + change)


def _may_use(instruction: Instruction, registers: Registers) -> bool:
    """Whether the instruction does not use a stack pointer that is not set yet, or sets it."""
    operands = instruction.operands
    if registers["sp"].base == "sp" or not any(map(_SP.search, operands)):
        return True
    reads = any(map(_SP.search, operands[1:]))
    is_sum = instruction.effect.operation == "add" and operands[1] == "sp"
    return operands[0] == "sp" and (not reads or is_sum)
