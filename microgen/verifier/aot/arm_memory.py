"""Thumb's loads and stores on the values of a runner's walk, and the names of Arm's registers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from microgen.verifier.aot.cpu import NEXT, Onward
from microgen.verifier.aot.memory import Memory
from microgen.verifier.aot.values import CannotFollowError, State, Value, const
from microgen.verifier.instructions.architecture import Instruction
from microgen.verifier.instructions.registers import register_list, register_name

TRANSFERS = (
    *("ldr", "str", "ldm", "stm", "push", "pop"),
    *("vldr", "vldm", "vstr", "vstm", "vpush", "vpop"),
)
_SINGLE = re.compile(r"(?P<way>ldr|str)(?P<signed>s?)(?P<size>[bh]?)(?P<double>d?)")
_VECTOR = re.compile(r"v(?P<way>ldr|str)(?P<size>w?)")
_SEVERAL = re.compile(r"v?(?P<way>ldm|stm|push|pop)(ia|db)?")
_SIZES = {"": 4, "w": 4, "b": 1, "h": 2}
_WORDS = {"s": 1, "d": 2, "q": 4}


def register(text: str) -> str:
    """The name under which a register is kept; any name for what is not a register."""
    return register_name(text.strip())


def number(text: str) -> int:
    """``#-4`` and ``#0x10``. Raises ValueError if it is no integer."""
    return int(text.strip().removeprefix("#"), 0)


def words_of(name: str) -> list[str]:
    """The registers of one word that a register consists of: s14 and s15 for d7."""
    count = _WORDS.get(name[0]) if re.fullmatch(r"[sdq]\d+", name) else None
    if count is None:
        return [register(name)]
    return [f"s{int(name[1:]) * count + i}" for i in range(count)]


@dataclass(frozen=True, slots=True)
class _Access:
    """Words in a row from ``at``, each in a register; ``base`` becomes ``moved`` if it is named."""

    at: Value | None
    names: tuple[str, ...]
    base: str = ""
    moved: Value | None = None
    size: int = 4


def transfer(instruction: Instruction, state: State, memory: Memory) -> Onward:
    """A load or store of one or more registers."""
    stem = instruction.mnemonic.split(".")[0]
    if match := _SEVERAL.fullmatch(stem):
        access = _several(instruction, state, match["way"])
    elif match := _SINGLE.fullmatch(stem):
        access = _single(instruction, state, 2 if match["double"] else 1, _SIZES[match["size"]])
    elif match := _VECTOR.fullmatch(stem):
        width = instruction.mnemonic.partition(".")[2]
        if match["size"] and width not in ("32", "u32", "s32"):
            raise CannotFollowError
        access = _single(instruction, state, 1, 4)
    else:
        raise CannotFollowError
    if match["way"] in ("str", "stm", "push"):
        _store(access, state, memory)
        return NEXT
    is_signed = "signed" in match.groupdict() and bool(match["signed"])
    return _load(access, state, memory, is_signed)


def _store(access: _Access, state: State, memory: Memory) -> None:
    values = [state.registers.get(name) for name in access.names]
    for i, value in enumerate(values):
        memory.store(state, _moved(access.at, i * access.size), value, access.size)
    if access.base:
        state.set(access.base, access.moved)


def _load(access: _Access, state: State, memory: Memory, is_signed: bool) -> Onward:
    places = [_moved(access.at, i * access.size) for i in range(len(access.names))]
    values = [memory.load(state, place, access.size) for place in places]
    if access.base:
        state.set(access.base, access.moved)
    for name, value in zip(access.names, values, strict=True):
        state.set(name, None if is_signed else value)
    if "pc" in access.names:
        return Onward("jump", state.registers.pop("pc", None))
    return NEXT


def _several(instruction: Instruction, state: State, way: str) -> _Access:
    """``push``, ``pop``, ``ldm``, ``stm`` and those of vectors."""
    operands = instruction.operands
    names = tuple(word for name in register_list(operands[-1]) for word in words_of(name))
    nbytes = 4 * len(names)
    if way in ("push", "pop"):
        base, has_writeback = "sp", True
    else:
        base, has_writeback = register(operands[0].rstrip("!")), operands[0].endswith("!")
    start = state.registers.get(base)
    is_before = way == "push" or instruction.mnemonic.endswith("db")
    moved = _moved(start, -nbytes if is_before else nbytes)
    at = moved if is_before else start
    return _Access(at, names, base if has_writeback else "", moved)


def _single(instruction: Instruction, state: State, count: int, size: int) -> _Access:
    """One register, or two in a row: ``ldr r0, [r1, #4]``, ``strd r0, r1, [sp, #8]!``."""
    operands = instruction.operands
    names = tuple(word for name in operands[:count] for word in words_of(name))
    text = operands[count]
    base, *index = (part.strip() for part in text.strip("[]!").split(","))
    start = state.registers.get(register(base))
    if base == "pc":
        start = const(instruction.address + 4 & ~3)
    moved = _plus(start, index, state)
    if text.endswith("!"):
        return _Access(moved, names, register(base), moved, size)
    if len(operands) > count + 1:
        after = _plus(start, [operands[count + 1]], state)
        return _Access(start, names, register(base), after, size)
    return _Access(moved, names, size=size)


def _plus(start: Value | None, index: list[str], state: State) -> Value | None:
    """An address with its index, which is a number, or a register with a shift."""
    if not index:
        return start
    if index[0].startswith("#"):
        return _moved(start, number(index[0]))
    change = state.registers.get(register(index[0]))
    shift = number(index[1].removeprefix("lsl").strip()) if len(index) > 1 else 0
    if change is None or not change.is_constant or start is None:
        if start is not None and change is not None and start.is_constant and not shift:
            return change.plus(start.offset)
        return None
    return _moved(start, change.offset << shift)


def _moved(at: Value | None, nbytes: int) -> Value | None:
    return None if at is None else at.plus(nbytes)
