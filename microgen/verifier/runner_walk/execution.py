"""The effects of instructions on the values of a runner's walk, for every instruction set.

The memory of a runner is the image's constants, its own stack, and its caller's structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from microgen.verifier.instructions.architecture import CallStandard
from microgen.verifier.instructions.instruction import (
    OF_NUMBERS,
    OPPOSITE,
    Effect,
    EffectiveAddress,
    Instruction,
    Number,
    Predicate,
    Register,
    Relative,
    Source,
)
from microgen.verifier.runner_walk.values import (
    STACK,
    CannotFollowError,
    Flags,
    PathState,
    Value,
    added,
    const,
    constants,
    low_bits,
    masked,
    member,
    moved,
    negated,
    shifted_left,
    subtracted,
    united,
)

_WORD_BYTES = 4
_MOST_BYTES = 2**16  # that one call may fill or copy


@dataclass(frozen=True, slots=True)
class RunnerMemory:
    """``constant`` reads a word of read-only memory by its address and returns None elsewhere.
    ``on_stack`` are the bytes above the entry's stack pointer that belong to the runner: its
    parameters that are passed on the stack."""

    constant: Callable[[int], int | None]
    on_stack: int

    def load(self, state: PathState, at: Value, size: int = _WORD_BYTES) -> Value:
        """The value of ``size`` bytes; None if it is not known."""
        if at is None:
            return None
        if at.is_constant:
            return self._constant(at.offset, size)
        # Values are words, so nothing is known of a part, or of parts of two.
        if size != _WORD_BYTES or at.offset % _WORD_BYTES:
            return None
        if at.base == STACK:
            return state.stack.get(at.offset)
        if at.base[0] == "parameter":
            index = at.base[1]
            assert isinstance(index, int)
            return member(index, at.offset)
        return None

    def _constant(self, address: int, size: int) -> Value:
        word = self.constant(address & ~3)
        shift = 8 * (address & 3)  # little-endian
        if word is None or (address & 3) + size > _WORD_BYTES:
            return None
        return const(word >> shift & 2 ** (8 * size) - 1)

    def store(self, state: PathState, at: Value, value: Value, size: int = _WORD_BYTES) -> None:
        """Write ``size`` bytes. Raises CannotFollowError."""
        # A runner writes its own stack and nothing else.
        if at is None or at.base != STACK or at.offset + size > self.on_stack:
            raise CannotFollowError("writes memory that is not its stack")
        # Words that it overlaps are no longer known.
        for word in range(at.offset & ~3, at.offset + size, _WORD_BYTES):
            state.stack.pop(word, None)
        if value is not None and size == _WORD_BYTES and at.offset % _WORD_BYTES == 0:
            state.stack[at.offset] = value

    def fill(self, state: PathState, at: Value, byte: Value, size: Value) -> None:
        """``memset``."""
        for i in self._words(at, size):
            known = byte is not None and byte.is_constant
            word = byte.offset % 256 * 0x01010101 if known and byte is not None else None
            self.store(state, moved(at, i), None if word is None else const(word))

    def copy(self, state: PathState, to: Value, source: Value, size: Value) -> None:
        """``memcpy``."""
        words = [self.load(state, moved(source, i)) for i in self._words(to, size)]
        for i, word in enumerate(words):
            self.store(state, moved(to, i * _WORD_BYTES), word)

    def _words(self, at: Value, size: Value) -> range:
        is_known = at is not None and size is not None and size.is_constant
        if not is_known or at is None or size is None or (at.offset | size.offset) % _WORD_BYTES:
            raise CannotFollowError("fills memory of unknown size")
        if size.offset > _MOST_BYTES:
            raise CannotFollowError(f"fills {size.offset} bytes")
        return range(0, size.offset, _WORD_BYTES)


Binary = Callable[[Value, Value], Value]


@dataclass(frozen=True, slots=True)
class Onward:
    """The place at which a path continues: at the next instruction, at ``target``, or, for a call,
    at ``target`` with the next instruction as the return address in the register ``link``."""

    kind: Literal["next", "jump", "call"]
    target: Value = None
    link: str = ""


_NEXT = Onward("next")


def execute(
    instruction: Instruction, state: PathState, memory: RunnerMemory, standard: CallStandard
) -> Onward:
    """Change the registers, stack and flags as the instruction does.

    Raises UndecidedError, before anything is changed, if the path has to divide, and
    CannotFollowError if the effect is not known. Any LookupError or ValueError means that the
    instruction's text cannot be read.
    """
    condition, flow = instruction.condition, instruction.effect.flow
    # May divide the path, so it comes before any change.
    if condition and not _holds(Predicate(condition), instruction, state):
        return Onward("jump", const(instruction.skip_to))
    if flow.kind in ("branch", "jump"):
        is_taken = flow.kind == "jump" or _holds(flow.test, instruction, state)
        return Onward("jump", const(instruction.target)) if is_taken else _NEXT
    if flow.kind in ("stop", "switch"):
        raise CannotFollowError
    _apply(instruction, state, memory, standard)
    if flow.kind == "next":
        return _NEXT
    if flow.kind == "call":
        target: Value = const(instruction.target)
    elif flow.target is None or instruction.effect.operation:
        target = state.registers.pop("pc", None)  # written by the effect, as `pop {pc}` does
    else:
        target = _address(flow.target, instruction, state)
    # RISC-V's `jal zero` keeps no return address.
    is_call = flow.kind.endswith("call") and flow.link != "zero"
    return Onward("call", target, flow.link) if is_call else Onward("jump", target)


def _value(source: Source, instruction: Instruction, state: PathState) -> Value:
    if isinstance(source, Register):
        return state.registers.get(source.name)
    if isinstance(source, Number):
        return const(source.value)
    return const(source.at(instruction.address)) if isinstance(source, Relative) else None


def _address(address: EffectiveAddress, instruction: Instruction, state: PathState) -> Value:
    base = _value(address.base, instruction, state)
    if not address.index:
        return moved(base, address.offset)
    index = state.registers.get(address.index)
    if index is None or base is None:
        return None
    if index.is_constant:
        return base.plus(index.offset << address.shift)
    return index.plus(base.offset) if base.is_constant and not address.shift else None


def _holds(test: Predicate | None, instruction: Instruction, state: PathState) -> bool:
    """Whether a condition holds: for its own values if it has any, otherwise for the flags."""
    flags = state.flags
    if test is not None and test.values is not None:
        left, right = (_value(source, instruction, state) for source in test.values)
        flags = Flags(left, right, True)
    if test is None or flags is None:
        raise CannotFollowError
    condition = test.condition
    if condition in _CONDITIONS:
        return _CONDITIONS[condition](flags, state)
    return condition == "al" or not _CONDITIONS[OPPOSITE[condition]](flags, state)


def _equal(flags: Flags, state: PathState) -> bool:
    return state.is_equal(flags.left, flags.right)


def _carry(flags: Flags, state: PathState) -> bool:
    if not flags.has_carry:
        raise CannotFollowError
    return state.is_at_least(flags.left, flags.right)


def _higher(flags: Flags, state: PathState) -> bool:
    return _carry(flags, state) and not _equal(flags, state)


def _negative(flags: Flags, state: PathState) -> bool:
    return state.is_less(subtracted(flags.left, flags.right), const(0))


def _less(flags: Flags, state: PathState) -> bool:
    if not flags.has_carry:
        raise CannotFollowError
    return state.is_less(flags.left, flags.right)


def _less_or_equal(flags: Flags, state: PathState) -> bool:
    return _less(flags, state) or _equal(flags, state)


# The other conditions are opposites of these. Overflow ("vs") is not modelled.
_CONDITIONS: Mapping[str, Callable[[Flags, PathState], bool]] = {
    "eq": _equal,
    "mi": _negative,
    "cs": _carry,
    "hs": _carry,
    "hi": _higher,
    "lt": _less,
    "le": _less_or_equal,
}


def _of_numbers(operation: str) -> Binary:
    return lambda a, b: constants(a, b, OF_NUMBERS[operation])


def _shift_left(operation: str) -> Binary:
    return lambda a, b: shifted_left(a, b, OF_NUMBERS[operation])


def _inverse(a: Value) -> Value:
    return moved(negated(a), -1)


_UNARY: Mapping[str, Callable[[Value], Value]] = {
    "move": lambda a: a,
    "not": _inverse,
    "not number": lambda a: constants(a, const(0), lambda x, _: ~x),
    "negate": negated,
    "low byte": lambda a: low_bits(a, 0xFF),
    "low half": lambda a: low_bits(a, 0xFFFF),
}
_BINARY: Mapping[str, Binary] = {
    **{name: _of_numbers(name) for name in OF_NUMBERS},
    **{name: _shift_left(name) for name in ("shift left", "shift left modulo")},
    "add": added,
    "subtract": subtracted,
    "subtract from": lambda a, b: subtracted(b, a),
    "and": masked,
    "or": united,
}
_COMPARES: Mapping[str, Binary] = {
    "compare sum": added,
    "compare and": masked,
    "compare xor": _of_numbers("xor"),
}
_SELECTS: Mapping[str, Callable[[Value], Value]] = {
    "select": lambda a: a,
    "select increment": lambda a: added(a, const(1)),
    "select inverse": _inverse,
    "select negative": negated,
}


def _apply(
    instruction: Instruction, state: PathState, memory: RunnerMemory, standard: CallStandard
) -> None:
    """Change registers, flags and memory as the instruction does. Flow is not followed here."""
    effect = instruction.effect
    values = [_value(source, instruction, state) for source in effect.sources]
    if effect.access is None:
        results, flags = _results(instruction, values, state)
    else:
        results, flags = _transferred(instruction, values, state, memory), None
        if update := effect.update:
            base = moved(state.registers.get(update.register), update.change)
            state.set(update.register, base)
    # A comparison has no target, and neither has a write to RISC-V's `zero`.
    for target, result in zip(effect.targets, results, strict=False):
        if target in standard.fixed:
            # Calls are not followed: they would find another global pointer.
            raise CannotFollowError("changes what every function relies on")
        state.set(target, result)
    if effect.sets_flags:
        state.flags = flags


def _transferred(
    instruction: Instruction, values: list[Value], state: PathState, memory: RunnerMemory
) -> list[Value]:
    """The values that a load reads. A store puts ``values`` into memory."""
    access = instruction.effect.access
    assert access is not None, "the caller asks"
    at = _address(access.address, instruction, state)
    for i, value in enumerate(values):
        memory.store(state, moved(at, i * access.size), value, access.size)
    places = [moved(at, i * access.size) for i in range(len(instruction.effect.targets))]
    loaded = [memory.load(state, place, access.size) for place in places]
    # No planned argument is extended with a sign.
    return [None] * len(loaded) if access.is_signed else loaded


def _results(
    instruction: Instruction, values: list[Value], state: PathState
) -> tuple[list[Value], Flags | None]:
    """The results of an instruction for the values of its operands, and the flags after it."""
    effect = instruction.effect
    operation = effect.operation
    if operation == "move words":
        return values, None
    if operation in ("", "havoc"):
        return [None], Flags(None, const(0), False)
    # Only subtractions set a carry that conditions compare with.
    if operation == "compare":
        return [], Flags(values[0], values[1], True)
    if operation in _COMPARES:
        return [], Flags(_COMPARES[operation](*values), const(0), False)
    if operation in _SELECTS:
        is_met = _holds(effect.test, instruction, state)
        return [values[0] if is_met else _SELECTS[operation](values[1])], None
    if operation in _UNARY:
        result = _UNARY[operation](values[0])
    else:
        left, right = _both(effect, values, state)
        result = _of_two(operation, left, right, state)
        if operation in ("subtract", "subtract from"):
            compared = (left, right) if operation == "subtract" else (right, left)
            return [result], Flags(*compared, True)
    return [result], Flags(result, const(0), False)


def _both(effect: Effect, values: list[Value], state: PathState) -> tuple[Value, Value]:
    """The operands of a binary operation. The first operand may be the operation's target."""
    if len(values) == 1:
        return state.registers.get(effect.targets[0]), values[0]
    left, right = values
    return left, right


def _of_two(operation: str, a: Value, b: Value, state: PathState) -> Value:
    if operation in _BINARY:
        return _BINARY[operation](a, b)
    if operation not in ("add with carry", "subtract with carry") or state.flags is None:
        raise CannotFollowError
    carry = int(_carry(state.flags, state))  # of a subtraction: 1 if nothing was borrowed
    if operation == "add with carry":
        return added(added(a, b), const(carry))
    return added(subtracted(a, b), const(carry - 1))
