"""Known values of registers, with which the stack pointer and pointers to functions are followed.
They are the same for every architecture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

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
    """The values that are known if two paths meet: the equal values, and the deeper stack
    pointer. Raises UnknownStackPointerError if only one path has a stack."""
    common = {name: value for name, value in a.items() if b.get(name) == value}
    if has_stack(a) and has_stack(b):
        # The deeper one is a bound for both, though it is the pointer of only one.
        common["sp"] = StackValue("sp", min(a["sp"].offset, b["sp"].offset))
    if "sp" not in common:
        raise UnknownStackPointerError("paths that meet with different stacks")
    return common
