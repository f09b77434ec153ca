"""The values of Arm's registers, followed through one Thumb instruction.

If this module cannot follow the stack pointer, it raises ``UnknownStackPointerError``. It never
guesses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from microgen.verifier.instructions.architecture import Instruction
from microgen.verifier.instructions.listing import UNDEFINED
from microgen.verifier.instructions.values import Registers, UnknownStackPointerError, Value, value

_NUMBERED = {
    "r11": "fp",
    "r12": "ip",
    "r13": "sp",
    "r14": "lr",
    "r15": "pc",
    "r10": "sl",
    "r9": "r9",
}

# They write no general register, except a base with writeback.
_NO_RESULT = re.compile(
    r"(str|stm|vst|stc|cmp|cmn|tst|teq|pld|pli|dsb|isb|dmb|nop|it|cbz|cbnz|bkpt|svc|cps|wf|sev"
    r"|clrex|udf|yield|vcmp|vmsr|vpush|vpt|vpst|vpnot|vctp|le|b$|bx$).*"
)
_MOVES, _MASKS = ("mov", "movs", "movw"), ("bfc", "bic")
_SUMS = ("add", "adds", "addw", "sub", "subs", "subw")
_OTHERS = ("movt", "mvn", "mvns", "negs", "rsbs", "rsb", "lsl", "lsls")
# Their results are known if their operands are. Those of all others are unknown.
_COMPUTED = frozenset({*_MOVES, *_MASKS, *_SUMS, *_OTHERS, "ldr"})
_TWO_RESULTS = re.compile(r"(ldrd|ldrexd|[su]mull|[su]mlal|smlsld|umaal|mrrc|\w+l$|v).*")


@dataclass(frozen=True, slots=True)
class Machine:
    """Follows instructions. ``constant`` reads a word of read-only memory and returns None
    elsewhere. ``stack_top`` is the initial stack pointer; code that resets to it is as at its
    entry."""

    constant: Callable[[int], int | None]
    stack_top: int

    def step(self, instruction: Instruction, registers: Registers) -> Registers:
        """The registers after the instruction. Raises UnknownStackPointerError."""
        known = dict(registers)
        self._write_results(instruction, registers, known)
        self._write_back(instruction, registers, known)
        if "sp" not in known:
            raise UnknownStackPointerError(str(instruction))
        sp = known["sp"]
        if sp.base == "sp":
            return known
        if sp != Value("const", self.stack_top):
            raise UnknownStackPointerError(str(instruction))
        known["sp"] = Value("sp", 0)
        return known

    def _write_results(
        self, instruction: Instruction, before: Registers, known: dict[str, Value]
    ) -> None:
        name = instruction.mnemonic
        if name == "msr" and instruction.operands[0].lower() in ("msp", "psp", "control"):
            raise UnknownStackPointerError(str(instruction))
        if name == UNDEFINED:
            raise UnknownStackPointerError(str(instruction))
        if name in ("bkpt", "svc"):  # semihosting and system calls return their result in r0
            known.pop("r0", None)
        if name == "msr" or not instruction.operands:
            return
        if not (registers := _results(name, instruction.operands)):
            return
        for register in registers:
            known.pop(register, None)
        result = self._computed(instruction, before)
        if result is not None:
            known[register_name(instruction.operands[0])] = result

    def _write_back(
        self, instruction: Instruction, before: Registers, known: dict[str, Value]
    ) -> None:
        changed = _write_back(instruction.mnemonic, instruction.operands)
        if changed is None:
            return
        register, change = changed
        old = before.get(register)
        if old is None or change is None or old.base == "table":
            known.pop(register, None)
        else:
            known[register] = value(old.base, old.offset + change)

    def _computed(self, instruction: Instruction, before: Registers) -> Value | None:
        name = instruction.mnemonic
        if name not in _COMPUTED:
            return None
        values = [self._operand(instruction, text, before) for text in instruction.operands[1:]]
        if name in _MOVES and len(values) == 1:
            return values[0]
        if name in _SUMS:
            if len(values) == 1:
                values.insert(0, self._operand(instruction, instruction.operands[0], before))
            sign = 1 if name.startswith("add") else -1
            return _sum(values, sign)
        if name == "ldr" and len(values) == 1:
            return self._loaded(instruction, instruction.operands[1], before)
        if name in _MASKS:
            return _aligned(name, instruction, values, before)
        return self._other_constant(name, instruction, values, before)

    def _other_constant(
        self, name: str, instruction: Instruction, values: list[Value | None], before: Registers
    ) -> Value | None:
        """Instructions for constants that are too wide for one ``mov``."""
        numbers = [v.offset for v in values if v is not None and v.base == "const"]
        if len(numbers) != len(values):
            return None
        if name == "movt":
            low = before.get(register_name(instruction.operands[0]))
            return value("const", numbers[0] << 16 | low.offset & 0xFFFF) if low else None
        if name in ("mvn", "mvns") and len(numbers) == 1:
            return value("const", ~numbers[0])
        if name in ("negs", "rsbs", "rsb") and numbers[1:] in ([], [0]):
            return value("const", -numbers[0])
        if name in ("lsl", "lsls") and len(numbers) == 2:
            return value("const", numbers[0] << min(numbers[1], 32))
        return None

    def _operand(self, instruction: Instruction, text: str, known: Registers) -> Value | None:
        if text.startswith("#"):
            return value("const", int(text[1:], 0))
        if text == "pc":
            return Value("const", (instruction.address + 4) & ~3)
        return known.get(register_name(text))

    def _loaded(self, instruction: Instruction, memory: str, known: Registers) -> Value | None:
        if not memory.endswith("]"):
            return None
        base, *index = (part.strip() for part in memory.strip("[]").split(","))
        left = self._operand(instruction, base, known)
        right = self._operand(instruction, index[0], known) if index else Value("const", 0)
        if index and not index[0].startswith("#"):
            # The index on this path does not matter, because other paths have other indices here.
            return self._table(*_base_first(left, right if len(index) < 2 else None))
        if left is not None and right is not None:
            at = left.plus(right, 1)
            word = self.constant(at.offset) if at is not None and at.base == "const" else None
            return None if word is None else Value("const", word)
        return self._table(left, right)

    def _table(self, left: Value | None, right: Value | None) -> Value | None:
        """The table from which an index selects. Either operand may be the base."""
        base = left or right
        if base is None or base.base != "const" or self.constant(base.offset) is None:
            return None
        return Value("table", base.offset)


def _base_first(left: Value | None, right: Value | None) -> tuple[Value | None, Value | None]:
    """The base of an indexed load, then its index. Of two constants the larger is the base."""
    if left is not None and right is not None and left.offset < right.offset:
        return right, left
    return left, right


def _sum(values: list[Value | None], sign: int) -> Value | None:
    if len(values) != 2:
        return None
    left, right = values
    if left is None or right is None:
        return None
    if left.base == "const" and sign > 0:
        left, right = right, left
    return left.plus(right, sign)


def _aligned(
    name: str, instruction: Instruction, values: list[Value | None], before: Registers
) -> Value | None:
    """The stack pointer rounded down by clearing its low bits. By how much is not known, so the
    result is the lowest possible one. The hardware keeps the pointer a multiple of 4."""
    if name == "bfc":
        source, first, count = before.get(register_name(instruction.operands[0])), *values
    else:
        source, first, count = values[0], Value("const", 0), _mask_bits(values[-1])
    if source is None or source.base != "sp" or first != Value("const", 0) or count is None:
        return None
    return value("sp", source.offset - max((1 << count.offset) - 4, 0))


def _mask_bits(mask: Value | None) -> Value | None:
    """The number of ones in a mask that has ones only at its low end."""
    if mask is None or mask.base != "const" or mask.offset & (mask.offset + 1):
        return None
    return Value("const", mask.offset.bit_length())


def register_name(text: str) -> str:
    """The name under which a register is tracked: r11 and fp are one register."""
    return _NUMBERED.get(text, text)


# The same instruction with the same operands is in many places.
@functools.lru_cache(2**14)
def _results(name: str, operands: tuple[str, ...]) -> list[str]:
    """The general registers that an instruction writes."""
    if _NO_RESULT.fullmatch(name):
        return []
    if operands[-1].startswith("{") and not name.startswith("v"):
        return register_list(operands[-1])
    count = 2 if _TWO_RESULTS.fullmatch(name) else 1
    return [register_name(operand) for operand in operands[:count]]


def register_list(text: str) -> list[str]:
    """The registers of ``{r4, r6-r8, lr}``."""
    names: list[str] = []
    for part in text.strip("{}^ ").split(","):
        first, _, last = part.strip().partition("-")
        names += _register_range(first, last) if last else [register_name(first)]
    return names


def _register_range(first: str, last: str) -> list[str]:
    alias = {v: k for k, v in _NUMBERED.items()}
    start, end = alias.get(first, first), alias.get(last, last)
    return [register_name(f"{start[0]}{i}") for i in range(int(start[1:]), int(end[1:]) + 1)]


def _list_bytes(text: str) -> int:
    sizes = {"d": 8, "q": 16}
    return sum(sizes.get(name[0], 4) for name in register_list(text) if name != "vpr")


@functools.lru_cache(2**14)
def _write_back(name: str, operands: tuple[str, ...]) -> tuple[str, int | None] | None:
    """(base register, its change in bytes or None if unknown); None if there is no writeback."""
    if name in ("push", "vpush"):
        return "sp", -_list_bytes(operands[-1])
    if name in ("pop", "vpop"):
        return "sp", _list_bytes(operands[-1])
    if name.startswith(("stm", "ldm", "vstm", "vldm")) and operands[0].endswith("!"):
        sign = -1 if "db" in name else 1
        return register_name(operands[0][:-1]), sign * _list_bytes(operands[-1])
    return _indexed(operands)


def _indexed(operands: tuple[str, ...]) -> tuple[str, int | None] | None:
    """``[rn, #4]!`` and ``[rn], #4``."""
    memory = next((i for i, text in enumerate(operands) if text.startswith("[")), None)
    if memory is None:
        return None
    text = operands[memory]
    base, _, index = text.strip("[]!").partition(",")
    if text.endswith("!"):
        change = index.strip()
    elif memory + 1 < len(operands):
        change = operands[memory + 1]
    else:
        return None
    is_known = change.startswith("#")
    return register_name(base.strip()), int(change[1:], 0) if is_known else None
