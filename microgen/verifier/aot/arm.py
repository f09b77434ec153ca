"""Thumb instructions on the values of a runner's walk: Armv6-M, Armv7-M, Armv8-M, and those of
MVE and of the FPU that move data.

Source of the meanings: Armv8-M Architecture Reference Manual (DDI 0553), chapter C2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from microgen.verifier.aot.arm_memory import TRANSFERS, number, register, transfer, words_of
from microgen.verifier.aot.cpu import NEXT, Convention, Onward
from microgen.verifier.aot.memory import Memory
from microgen.verifier.aot.values import (
    CannotFollowError,
    Flags,
    State,
    Value,
    added,
    const,
    constants,
    low_bits,
    masked,
    negated,
    shifted_left,
    subtracted,
    united,
)
from microgen.verifier.instructions.architecture import Instruction

_PRESERVED = frozenset({*(f"r{i}" for i in range(4, 10)), "sl", "fp"}) | {
    f"s{i}" for i in range(16, 32)
}
_CALLS = ("bl", "blx")
_NOTHING = ("nop", "it", "dsb", "dmb", "isb", "yield", "pld")
# They write their first operand, with a value that no argument of a call has.
_OTHER = re.compile(r"(mul|mla|mls|udiv|sdiv|rev|rev16|clz|rbit|ror|asr|eor|sxt[bh]|[su]bfx|bfi)s?")
_SELECTS = ("csel", "csinc", "csinv", "csneg", "cset", "csetm", "cinc")

Binary = Callable[[Value | None, Value | None], Value | None]


class Thumb:
    """Armv6-M to Armv8.1-M."""

    convention = Convention(("r0", "r1", "r2", "r3"), "r0", "lr", _PRESERVED)
    code_bit = 1

    def step(self, instruction: Instruction, state: State, memory: Memory) -> Onward:
        """As in ``Cpu``."""
        condition = instruction.condition
        if condition and not holds(condition, state):
            return Onward("jump", const(instruction.skip_to))
        name = instruction.mnemonic
        if name in _CALLS or name in ("b", "bx", "cbz", "cbnz") or _branch_condition(name):
            return _control(instruction, state)
        if name in _NOTHING or name.startswith("it"):
            return NEXT
        if name.startswith(TRANSFERS):
            return transfer(instruction, state, memory)
        _compute(instruction, state)
        written = instruction.operands[0] if name not in _COMPARES else ""
        if written != "pc":
            return NEXT
        return Onward("jump", state.registers.pop("pc", None))


def _branch_condition(name: str) -> str:
    return name[1:] if name[:1] == "b" and name[1:] in _CONDITIONS else ""


def _control(instruction: Instruction, state: State) -> Onward:
    name, operands = instruction.mnemonic, instruction.operands
    if name == "bl":
        return Onward("call", const(instruction.target), "lr")
    if name in ("blx", "bx"):
        target = state.registers.get(register(operands[0]))
        return Onward("call", target, "lr") if name == "blx" else Onward("jump", target)
    if name in ("cbz", "cbnz"):
        is_zero = state.is_zero(state.registers.get(register(operands[0])))
        taken = is_zero == (name == "cbz")
    else:
        taken = name == "b" or holds(_branch_condition(name), state)
    return Onward("jump", const(instruction.target)) if taken else NEXT


def holds(condition: str, state: State) -> bool:
    """Whether a condition holds after what set the flags."""
    if state.flags is None:
        raise CannotFollowError
    return condition == "al" or _CONDITIONS[condition](state.flags, state)


def _equal(flags: Flags, state: State) -> bool:
    return state.is_equal(flags.left, flags.right)


def _carry(flags: Flags, state: State) -> bool:
    if not flags.has_carry:
        raise CannotFollowError
    return state.is_at_least(flags.left, flags.right)


def _higher(flags: Flags, state: State) -> bool:
    return _carry(flags, state) and not _equal(flags, state)


def _negative(flags: Flags, state: State) -> bool:
    return state.is_less(subtracted(flags.left, flags.right), const(0))


def _less(flags: Flags, state: State) -> bool:
    if not flags.has_carry:
        raise CannotFollowError
    return state.is_less(flags.left, flags.right)


def _less_or_equal(flags: Flags, state: State) -> bool:
    return _less(flags, state) or _equal(flags, state)


def _not(test: Callable[[Flags, State], bool]) -> Callable[[Flags, State], bool]:
    return lambda flags, state: not test(flags, state)


_CONDITIONS: Mapping[str, Callable[[Flags, State], bool]] = {
    "eq": _equal,
    "ne": _not(_equal),
    "mi": _negative,
    "pl": _not(_negative),
    "cs": _carry,
    "hs": _carry,
    "cc": _not(_carry),
    "lo": _not(_carry),
    "hi": _higher,
    "ls": _not(_higher),
    "lt": _less,
    "ge": _not(_less),
    "le": _less_or_equal,
    "gt": _not(_less_or_equal),
    "al": lambda _flags, _state: True,
}
_COMPARES: Mapping[str, Binary] = {
    "cmp": subtracted,
    "cmn": added,
    "tst": masked,
    "teq": lambda a, b: constants(a, b, int.__xor__),
}


def _amount(bits: int) -> int:
    """How far a shift by a register goes."""
    return min(bits & 255, 32)


_BINARY: Mapping[str, Binary] = {
    "add": added,
    "sub": subtracted,
    "and": masked,
    "orr": united,
    "lsl": lambda a, b: shifted_left(a, b, _amount),
    "rsb": lambda a, b: subtracted(b, a),
    "bic": lambda a, b: constants(a, b, lambda x, y: x & ~y),
    "lsr": lambda a, b: constants(a, b, lambda x, y: x >> _amount(y)),
    "mul": lambda a, b: constants(a, b, int.__mul__),
}
_UNARY: Mapping[str, Callable[[Value | None], Value | None]] = {
    "mov": lambda a: a,
    "movw": lambda a: a,
    "mvn": lambda a: constants(a, const(0), lambda x, _: ~x),
    "neg": negated,
    "uxtb": lambda a: low_bits(a, 0xFF),
    "uxth": lambda a: low_bits(a, 0xFFFF),
}


def _operand(text: str, instruction: Instruction, state: State) -> Value | None:
    if text.startswith("#"):
        return const(number(text))
    if text == "pc":
        return const(instruction.address + 4 & ~3)
    return state.registers.get(register(text))


def _compute(instruction: Instruction, state: State) -> None:
    """An instruction that computes: its result, and the flags if it sets them."""
    name, operands = instruction.mnemonic, instruction.operands
    values = [_operand(text, instruction, state) for text in operands]
    if name in _COMPARES:
        left, right = values if len(values) == 2 else (None, None)
        is_compare = name == "cmp"
        found = _COMPARES[name](left, right)
        state.flags = Flags(left, right, True) if is_compare else Flags(found, const(0), False)
        return
    if name in _SELECTS:
        state.set(register(operands[0]), _selected(name, operands, values, state))
        return
    if name.startswith("v"):
        _vector(name, operands, state)
        return
    stem = name.removesuffix("s") if name not in ("mls",) else name
    has_flags = stem != name
    if stem in ("addw", "subw"):
        stem = stem[:3]
    result, flags = _result(stem, values, state)
    state.set(register(operands[0]), result)
    if has_flags:
        state.flags = flags


def _result(stem: str, values: list[Value | None], state: State) -> tuple[Value | None, Flags]:
    """What an instruction computes from the values of its operands, and the flags that it sets."""
    sources = values[1:] if len(values) > 2 or stem in _UNARY else values
    if stem == "movt":
        low, high = values
        result = constants(low, high, lambda x, y: x & 0xFFFF | y << 16)
    elif stem in _UNARY and len(sources) == 1:
        result = _UNARY[stem](sources[0])
        if stem == "neg":
            return result, Flags(const(0), sources[0], True)
    elif stem in ("adc", "sbc") and len(sources) == 2:
        result = _with_carry(stem, sources[0], sources[1], state)
    elif stem in _BINARY and len(sources) == 2:
        left, right = sources
        result = _BINARY[stem](left, right)
        if stem in ("sub", "rsb"):
            return result, Flags(*((left, right) if stem == "sub" else (right, left)), True)
    elif stem in _BINARY or stem in _UNARY or _OTHER.fullmatch(stem):
        result = None  # with a shifted operand, for example
    else:
        raise CannotFollowError
    return result, Flags(result, const(0), False)


def _with_carry(stem: str, a: Value | None, b: Value | None, state: State) -> Value | None:
    if state.flags is None:
        raise CannotFollowError
    carry = int(_carry(state.flags, state))
    total = added(a, b) if stem == "adc" else subtracted(a, b)
    return added(total, const(carry if stem == "adc" else carry - 1))


def _selected(
    name: str, operands: tuple[str, ...], values: list[Value | None], state: State
) -> Value | None:
    """``csel`` and similar ones, whose last operand is a condition."""
    is_met = holds(operands[-1], state)
    if name in ("cset", "csetm"):
        return const((1 if name == "cset" else -1) if is_met else 0)
    left = const(0) if operands[1] == "zr" else values[1]
    if name == "cinc":
        return added(left, const(1)) if is_met else left
    right = const(0) if operands[2] == "zr" else values[2]
    if is_met:
        return left
    changes = {"csinc": lambda: added(right, const(1)), "csneg": lambda: negated(right)}
    changes["csinv"] = lambda: added(negated(right), const(-1))
    return changes[name]() if name in changes else right


def _vector(name: str, operands: tuple[str, ...], state: State) -> None:
    """``vmov`` between registers, or ``vmov`` and ``vdup`` of a number into each word of a
    vector."""
    stem, _, width = name.partition(".")
    sources = [state.registers.get(r) for text in operands[1:] for r in words_of(text)]
    targets = words_of(operands[0])
    if operands[1].startswith("#") and stem == "vmov":
        value = const(number(operands[1])) if width in ("i32", "u32", "s32") else None
        sources = [value] * len(targets)
    elif stem == "vdup":
        sources = [sources[0] if width == "32" else None] * len(targets)
    elif stem != "vmov" or "[" in "".join(operands):
        raise CannotFollowError
    elif len(sources) != len(targets):
        targets, sources = _halves([r for text in operands for r in words_of(text)], state)
    for target, value in zip(targets, sources, strict=True):
        state.set(target, value)


def _halves(both: list[str], state: State) -> tuple[list[str], list[Value | None]]:
    """``vmov d7, r2, r3`` and ``vmov r2, r3, d7``: the first half from the second."""
    middle = len(both) // 2
    if len(both) % 2:
        raise CannotFollowError
    return both[:middle], [state.registers.get(name) for name in both[middle:]]
