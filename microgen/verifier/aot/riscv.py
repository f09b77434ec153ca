"""RV32IMAC instructions on the values of a runner's walk.

Source of the meanings: The RISC-V Instruction Set Manual, volume I.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from microgen.verifier.aot.cpu import NEXT, Convention, Onward
from microgen.verifier.aot.memory import Memory
from microgen.verifier.aot.values import (
    CannotFollowError,
    State,
    Value,
    added,
    const,
    constants,
    masked,
    negated,
    shifted_left,
    subtracted,
    united,
)
from microgen.verifier.instructions.architecture import Instruction

_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")
_MEMORY = re.compile(r"(-?\d+)?\((\w+)\)")
_SIZES = {"b": 1, "h": 2, "w": 4}
# They write their first operand, with a value that no argument of a call has.
_OTHER = re.compile(r"(mul|mulhu?|mulhsu|divu?|remu?|sra|xor|slt|sltu)i?|sltiu|sext\.[bh]")

Binary = Callable[[Value | None, Value | None], Value | None]


class Rv32:
    """RV32IMAC."""

    convention = Convention(
        tuple(f"a{i}" for i in range(8)), "a0", "ra", frozenset(f"s{i}" for i in range(12))
    )
    code_bit = 0

    def step(self, instruction: Instruction, state: State, memory: Memory) -> Onward:
        """As in ``Cpu``."""
        name, operands = instruction.mnemonic, instruction.operands
        if name in ("nop", "fence"):
            return NEXT
        if name in _TESTS:
            taken = _TESTS[name](state, *(_operand(text, state) for text in operands[:-1]))
            return Onward("jump", const(instruction.target)) if taken else NEXT
        if name in ("j", "jal", "jr", "jalr", "ret"):
            return _jump(instruction, state)
        if re.fullmatch(r"l[bhw]u?|s[bhw]", name):
            _transfer(name, operands, state, memory)
        else:
            _write(operands[0], _computed(instruction, state), state)
        return NEXT


def _operand(text: str, state: State) -> Value | None:
    if _NUMBER.fullmatch(text):
        return const(int(text, 0))
    return const(0) if text == "zero" else state.registers.get(text)


def _write(name: str, value: Value | None, state: State) -> None:
    if name in ("gp", "tp"):
        raise CannotFollowError("changes what every function relies on")
    if name != "zero":
        state.set(name, value)


def _place(text: str, state: State) -> Value | None:
    """The address that ``16(a5)`` means, or ``a5`` in a jump."""
    match = _MEMORY.fullmatch(text)
    if match is None:
        return _operand(text, state)
    base = _operand(match[2], state)
    return None if base is None else base.plus(int(match[1] or 0))


def _jump(instruction: Instruction, state: State) -> Onward:
    name, operands = instruction.mnemonic, instruction.operands
    if name == "ret":
        return Onward("jump", state.registers.get("ra"))
    link = operands[0] if len(operands) > 1 else "ra"
    is_direct = name in ("j", "jal")
    target = const(instruction.target) if is_direct else _place(operands[-1], state)
    if name in ("j", "jr") or link == "zero":
        return Onward("jump", target)
    return Onward("call", target, link)


def _transfer(name: str, operands: tuple[str, ...], state: State, memory: Memory) -> None:
    at, size = _place(operands[1], state), _SIZES[name[1]]
    if name[0] == "s":
        memory.store(state, at, _operand(operands[0], state), size)
        return
    is_signed = size < 4 and not name.endswith("u")
    _write(operands[0], None if is_signed else memory.load(state, at, size), state)


def _computed(instruction: Instruction, state: State) -> Value | None:
    name, operands = instruction.mnemonic, instruction.operands
    sources = [_operand(text, state) for text in operands[1:]]
    if name == "lui":
        return const(int(operands[1], 0) << 12)
    if name == "auipc":
        return const(instruction.address + (int(operands[1], 0) << 12))
    if name in ("mv", "li"):
        return sources[0]
    if name in ("neg", "not"):
        opposite = negated(sources[0])
        return opposite if name == "neg" or opposite is None else opposite.plus(-1)
    if name in ("seqz", "snez"):
        return const(int(state.is_zero(sources[0]) == (name == "seqz")))
    if name in ("zext.b", "andi", "and") and len(sources) in (1, 2):
        return masked(sources[0], sources[1] if len(sources) == 2 else const(0xFF))
    if name in _BINARY or name.removesuffix("i") in _BINARY:
        left, right = sources
        return (_BINARY.get(name) or _BINARY[name.removesuffix("i")])(left, right)
    if _OTHER.fullmatch(name):
        return _constant_order(name, sources, state)
    raise CannotFollowError


def _amount(bits: int) -> int:
    """How far a shift by a register goes."""
    return bits % 32


def _constant_order(name: str, sources: list[Value | None], state: State) -> Value | None:
    """``sltu`` and ``slt`` if they are decided; otherwise nothing is known of the result."""
    if not name.startswith("slt") or len(sources) != 2:
        return None
    test = state.is_less if name in ("slt", "slti") else _is_below(state)
    return const(int(test(sources[0], sources[1])))


def _is_below(state: State) -> Callable[[Value | None, Value | None], bool]:
    return lambda a, b: not state.is_at_least(a, b)


_BINARY: Mapping[str, Binary] = {
    "add": added,
    "sub": subtracted,
    "or": united,
    "sll": lambda a, b: shifted_left(a, b, _amount),
    "srl": lambda a, b: constants(a, b, lambda x, y: x >> _amount(y)),
    "xor": lambda a, b: constants(a, b, int.__xor__),
}

Test = Callable[..., bool]


def _not(test: Test) -> Test:
    return lambda state, *values: not test(state, *values)


def _equal(state: State, a: Value | None, b: Value | None) -> bool:
    return state.is_equal(a, b)


def _less(state: State, a: Value | None, b: Value | None) -> bool:
    return state.is_less(a, b)


def _at_least(state: State, a: Value | None, b: Value | None) -> bool:
    return state.is_at_least(a, b)


def _zero(state: State, a: Value | None) -> bool:
    return state.is_zero(a)


def _swapped(test: Test) -> Test:
    return lambda state, a, b: test(state, b, a)


_TESTS: Mapping[str, Test] = {
    "beq": _equal,
    "bne": _not(_equal),
    "beqz": _zero,
    "bnez": _not(_zero),
    "blt": _less,
    "bge": _not(_less),
    "bgt": _swapped(_less),
    "ble": _not(_swapped(_less)),
    "bgeu": _at_least,
    "bltu": _not(_at_least),
    "bleu": _swapped(_at_least),
    "bgtu": _not(_swapped(_at_least)),
    "bltz": lambda state, a: state.is_less(a, const(0)),
    "bgez": lambda state, a: not state.is_less(a, const(0)),
    "bgtz": lambda state, a: state.is_less(const(0), a),
    "blez": lambda state, a: not state.is_less(const(0), a),
}
