"""Values that the walk through a runner knows, and the state of one path.

A value is the sum of an unknown base and a known offset. Two values are equal if and only if base
and offset are. A value that is not known at all is None.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

WORD = 2**32

Base = tuple[Hashable, ...]

CONST: Base = ("const",)
STACK: Base = ("stack",)  # the stack pointer at the entry of the runner
RETURN: Base = ("return",)  # where the runner's caller goes on


class SymbolicValue(NamedTuple):
    """``base`` + ``offset``, modulo 2**32."""

    base: Base
    offset: int = 0

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return self.base == CONST

    def plus(self, nbytes: int) -> SymbolicValue:
        """The sum with a number."""
        return of(self.base, self.offset + nbytes)

    def __str__(self) -> str:
        base, *details = self.base
        if base == "const":
            return f"{self.offset:#x}"
        name = _NAMES.get(str(base), str(base)).format(*details)
        return f"{name} {self.offset:+#x}" if self.offset else name


_NAMES = {
    "stack": "the stack pointer",
    "return": "the return address",
    "parameter": "parameter {0}",
    "member": "the word at parameter {0} + {1}",
    "result": "the status of call {0}",
    "data": "the data of argument {0}",
    "register": "the caller's {0}",
    "masked": "the low bits of {0}",
    "apart": "the distance from {0} to {1}",
}


class CannotFollowError(Exception):
    """An instruction whose effect is not known."""


class UndecidedError(Exception):
    """Whether ``value`` is zero is not known yet: the path divides."""

    def __init__(self, value: SymbolicValue) -> None:
        super().__init__(str(value))
        self.value = value


# A value that a walk knows; None: nothing is known of it.
Value = SymbolicValue | None


def of(base: Base, offset: int) -> SymbolicValue:
    """The value with its offset in the range of 32 bits, which is signed unless it is a number."""
    if base == CONST:
        return SymbolicValue(CONST, offset % WORD)
    return SymbolicValue(base, (offset + WORD // 2) % WORD - WORD // 2)


def const(number: int) -> SymbolicValue:
    """A number."""
    return SymbolicValue(CONST, number % WORD)


def parameter(index: int) -> SymbolicValue:
    """A parameter of the entry point."""
    return SymbolicValue(("parameter", index))


def member(index: int, offset: int) -> SymbolicValue:
    """The word at an offset of the structure that a parameter of the entry point points to."""
    return SymbolicValue(("member", index, offset))


def result(call: int) -> SymbolicValue:
    """The status that a planned call has returned."""
    return SymbolicValue(("result", call))


def data(index: int) -> SymbolicValue:
    """The address of the elements of a packed function's argument."""
    return SymbolicValue(("data", index))


def added(a: Value, b: Value) -> Value:
    """The sum."""
    if a is None or b is None:
        return None
    if a.is_constant:
        a, b = b, a
    if b.is_constant:
        return a.plus(b.offset)
    if ("negative", *a.base) == b.base or ("negative", *b.base) == a.base:
        return const(a.offset + b.offset)
    return None


def moved(a: Value, nbytes: int | None) -> Value:
    """The sum with a number of bytes, if both are known."""
    return None if a is None or nbytes is None else a.plus(nbytes)


def negated(a: Value) -> Value:
    """The value with the other sign."""
    if a is None:
        return None
    if a.is_constant:
        return const(-a.offset)
    # The minus of a minus is the value itself.
    base = a.base[1:] if a.base[0] == "negative" else ("negative", *a.base)
    return of(base, -a.offset)


def subtracted(a: Value, b: Value) -> Value:
    """The difference."""
    if a is not None and b is not None and a.base == b.base:
        return const(a.offset - b.offset)
    return added(a, negated(b))


def low_bits(a: Value, mask: int) -> Value:
    """``a & mask`` for a mask whose set bits are all at its low end; None for any other mask."""
    if a is None or mask & (mask + 1):  # not 0...01...1
        return None
    is_known = a.is_constant or mask == 0
    return const(a.offset & mask) if is_known else SymbolicValue(("masked", a, mask))


def apart(a: SymbolicValue, b: SymbolicValue) -> SymbolicValue:
    """The distance between two of the caller's pointers. The model only distinguishes 0 from other
    distances."""
    # Distances in both directions are 0 at the same time, so the order is the same for both.
    return SymbolicValue(("apart", *sorted((a, b), key=str)))


def constants(a: Value, b: Value, f: Callable[[int, int], int]) -> Value:
    """``f`` of two numbers."""
    if a is None or b is None or not (a.is_constant and b.is_constant):
        return None
    return const(f(a.offset, b.offset))


def masked(a: Value, b: Value) -> Value:
    """``a & b`` if one of them is a number whose set bits are all at its low end."""
    if b is None or (a is not None and a.is_constant):
        a, b = b, a
    return None if b is None or not b.is_constant else low_bits(a, b.offset)


def shifted_left(a: Value, b: Value, shift: Callable[[int, int], int]) -> Value:
    """``a << b`` of numbers, which ``shift`` computes. For other values the result is the low bits
    that are not shifted out, because it is 0 if and only if these bits are."""
    if a is None or a.is_constant or b is None or not b.is_constant or not 0 < b.offset < 32:
        return constants(a, b, shift)
    # The upper b bits are lost, so the result is 0 if and only if the lower bits are 0.
    return low_bits(a, 2 ** (32 - b.offset) - 1)


def united(a: Value, b: Value) -> Value:
    """``a | b``. For unknown values, only whether its low bits are zero is modelled."""
    if a is None or b is None:
        return None
    if a.is_constant and b.is_constant:
        return const(a.offset | b.offset)
    if const(0) in (a, b):
        return b if a == const(0) else a
    return SymbolicValue(("union", a, b))


class Flags(NamedTuple):
    """The values that the last instruction that set flags compared. ``has_carry``: it was a
    subtraction, so the carry and the order are known, too."""

    left: Value
    right: Value
    has_carry: bool


@dataclass(slots=True)
class PathState:
    """One path, before the instruction at ``pc``. ``stack`` has words by their offset from the
    entry's stack pointer. ``zeros``: whether a value is zero, if the path has decided it.

    ``made`` is the number of planned calls that were made. ``pending`` are the calls, by their
    numbers in the plan, whose status matters and is not decided. ``failed`` is the first failed
    call. ``has_refused``: an argument is not as documented. ``equal`` are distances that have to be
    0.
    """

    pc: int
    registers: dict[str, SymbolicValue]
    stack: dict[int, SymbolicValue] = field(default_factory=dict)
    flags: Flags | None = None
    zeros: dict[SymbolicValue, bool] = field(default_factory=dict)
    made: int = 0
    pending: tuple[int, ...] = ()
    failed: int | None = None
    has_refused: bool = False
    equal: frozenset[SymbolicValue] = frozenset()

    def divided(self, value: SymbolicValue, *, is_zero: bool) -> PathState:
        """The path on which a value is zero, or is not. A value that is zero is a number from now
        on, because compilers pass it where they need a zero."""

        def seen(known: SymbolicValue) -> SymbolicValue:
            if is_zero and value.base[0] == "apart" and known == value.base[2]:
                first = value.base[1]  # compilers take either pointer if they are equal
                return first if isinstance(first, SymbolicValue) else known
            return const(known.offset) if is_zero and known.base == value.base else known

        flags = self.flags
        if flags is not None:
            left, right = (None if v is None else seen(v) for v in flags[:2])
            flags = Flags(left, right, flags.has_carry)
        return replace(
            self,
            registers={name: seen(known) for name, known in self.registers.items()},
            stack={offset: seen(known) for offset, known in self.stack.items()},
            flags=flags,
            zeros={**self.zeros, value: is_zero},
        )._decided(value, is_zero=is_zero)

    def _decided(self, value: SymbolicValue, *, is_zero: bool) -> PathState:
        """Note the consequences of a value that is zero or is not."""
        kind, *details = value.base
        if kind != "result":
            self.has_refused |= is_zero != (kind == "masked" or value in self.equal)
            return self
        call = details[0]
        assert isinstance(call, int)
        self.pending = tuple(number for number in self.pending if number != call)
        if not is_zero:
            self.failed = call if self.failed is None else min(call, self.failed)
        return self

    def forget_below_stack(self) -> None:
        """Forget all words below the stack pointer, because an exception may overwrite them."""
        sp = self.registers.get("sp")
        if sp is None or sp.base != STACK:
            raise CannotFollowError("loses the stack pointer")
        if any(offset < sp.offset for offset in self.stack):
            self.stack = {offset: v for offset, v in self.stack.items() if offset >= sp.offset}

    def set(self, register: str, value: Value) -> None:
        """Write a register; None if nothing is known of the value."""
        if value is None:
            self.registers.pop(register, None)
        else:
            self.registers[register] = value

    def is_zero(self, value: Value) -> bool:
        """Whether a value is zero. Raises UndecidedError if the path has to divide."""
        if value is None:
            raise CannotFollowError
        if value.is_constant:
            return value.offset == 0
        if value.base == STACK:  # a place on the stack is not NULL
            return False
        if value.offset:  # whether a pointer is at one certain address: nothing may depend on it
            raise CannotFollowError
        if value not in self.zeros:
            raise UndecidedError(value)
        return self.zeros[value]

    def is_equal(self, a: Value, b: Value) -> bool:
        """Whether two values are equal."""
        if a is not None and b is not None and a.base != b.base:
            # Only two pointers of the caller may be compared: they may be one buffer.
            is_member = {a.base[0], b.base[0]} == {"member"}
            if is_member and not (a.offset or b.offset):
                return self.is_zero(apart(a, b))
        return self.is_zero(subtracted(a, b))

    def is_at_least(self, a: Value, b: Value) -> bool:
        """Whether ``a >= b`` without sign."""
        if a is None or b is None:
            raise CannotFollowError
        if a.is_constant and b.is_constant:
            return a.offset >= b.offset
        if b == const(0):
            return True
        if b == const(1):  # compilers write `x != 0` so, without a branch
            return not self.is_zero(a)
        if a == const(0):
            return self.is_zero(b)
        raise CannotFollowError

    def is_less(self, a: Value, b: Value) -> bool:
        """Whether ``a < b`` with sign."""
        if a is None or b is None or not (a.is_constant and b.is_constant):
            raise CannotFollowError
        return _signed(a.offset) < _signed(b.offset)


def _signed(number: int) -> int:
    return (number + WORD // 2) % WORD - WORD // 2
