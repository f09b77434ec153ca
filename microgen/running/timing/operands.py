"""The registers that an instruction reads and writes, for the models of pipelines."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from microgen.verifier.instructions.instruction import Instruction

_ARM = re.compile(r"\b(?:r\d+|sl|fp|ip|sp|lr|pc|[sdq]\d+)\b")
_RANGE = re.compile(r"\b([rsd])(\d+)\s*-\s*[rsd](\d+)\b")
_RISCV = re.compile(r"\b(?:[xats]\d+|ra|sp|gp|tp)\b")
_WORDS = {"s": 1, "d": 2, "q": 4}  # of a register of the FPU

# Instructions that write nothing but memory, flags or the program counter.
_WRITES_NOTHING = re.compile(
    r"str(?!ex).*|stm.*|push|vst.*|vpush|cmp|cmn|tst|teq|vcmp.*|b|bx|blx?|b\w\w|cbn?z|tb[bh]"
    r"|nop|it[te]*|dmb|dsb|isb|udf|bkpt|svc|vmsr|msr|vpst\w*|vpt.*|wls.*|dls.*|le|letp|cps\w*"
)
_WRITES_TWO = re.compile(r"ldrd|[us]ml[as]l\w*|[us]mull\w*|umaal|v(?:r?ml[as]l[dv]a?v.*|mlalv.*)")
_ACCUMULATES = re.compile(
    r"[us]ml[as]l\w*|umaal|v(?:n|f|fn)?m(?:la|ls|a|s)\..*|vml[as].*|vqdml.*|vaddva.*|movt|bfi|bfc"
    r"|vmlalv.*|vrmlald.*|vmov\.\d+|vmin.?v.*|vmax.?v.*"
)
_NEW_DESTINATION = re.compile(  # of two operands, the first is only written
    r"mov|mvn|ldr|vldr|vmov|vcvt|uxt|sxt|clz|rbit|rev|vdup|adr|neg|vabs|vneg|vsqrt|v?mrs|vmvn"
    r"|vmax|vaddv|dls"
)
_LISTS = re.compile(r"ldm.*|pop|vldm.*|vpop")
_RISCV_WRITES_NOTHING = re.compile(
    r"s[bhw]|b(?!set|clr)\w*|j|jr|ret|nop|fence.*|fs[wd]|ebreak|ecall"
)


@dataclass(frozen=True, slots=True)
class UsedRegisters:
    """The registers that an instruction writes and reads, including the registers of its
    address."""

    writes: frozenset[str]
    reads: frozenset[str]
    address: frozenset[str]


def is_load(mnemonic: str) -> bool:
    """Whether an Arm instruction reads one word or less into a register of the core."""
    return mnemonic.startswith("ldr") and mnemonic != "ldrd"


def is_store(mnemonic: str) -> bool:
    """Whether an Arm instruction writes one word or less from a register of the core."""
    return mnemonic.startswith("str") and mnemonic != "strd"


def count(instruction: Instruction) -> int:
    """The number of words in an Arm instruction's register list, or that it moves between memory
    and a register of the FPU; 0 if there is neither."""
    if instruction.mnemonic in ("vldr", "vstr"):
        return len(_registers(instruction.operands[0]))
    lists = [operand for operand in instruction.operands if operand.startswith("{")]
    return len(_registers(lists[-1])) if lists else 0


@functools.lru_cache(maxsize=1 << 16)
def arm(instruction: Instruction) -> UsedRegisters:
    """The operands of a Thumb instruction."""
    name, operands = instruction.mnemonic, instruction.operands
    where = next((o for o in operands if "[" in o), "")
    address = _registers(where)
    if not operands or _WRITES_NOTHING.fullmatch(name):
        written, first_read = 0, 0
    elif _LISTS.fullmatch(name):
        # pop names no base register.
        base = _registers(operands[0]) if len(operands) > 1 else {"sp"}
        return UsedRegisters(
            frozenset(_registers(operands[-1]) | base), frozenset(base), frozenset(base)
        )
    else:
        written = 2 if _WRITES_TWO.fullmatch(name) else 1
        first_read = 0 if _ACCUMULATES.fullmatch(name) or len(operands) <= written else written
    # Thumb leaves out the first source if it is the destination.
    if written == 1 and len(operands) == 2 and _is_two_operand(instruction):
        first_read = 0
    writes = {r for operand in operands[:written] for r in _registers(operand)}
    # "[r0, #4]!" and "[r0], #4" also write the address back to r0.
    if where and (where.endswith("!") or where != operands[-1]):
        writes |= address
    reads = {r for operand in operands[first_read:] for r in _registers(operand)}
    return UsedRegisters(frozenset(writes), frozenset(reads), frozenset(address))


def _is_two_operand(instruction: Instruction) -> bool:
    """Whether the destination is the first source, as in ``adds r0, #1``."""
    return not _NEW_DESTINATION.match(instruction.mnemonic)


def _registers(text: str) -> set[str]:
    """The registers that a text names. A register of the FPU is named by its single-precision
    registers."""
    whole = _RANGE.sub(_spelled, text)
    return {word for name in _ARM.findall(whole) for word in _parts(name)}


def _spelled(found: re.Match[str]) -> str:
    return ", ".join(f"{found[1]}{n}" for n in range(int(found[2]), int(found[3]) + 1))


def _parts(name: str) -> list[str]:
    kind, number = name[0], name[1:]
    words = _WORDS.get(kind, 0) if number.isdigit() else 0
    # d1 is s2 and s3, and q1 is s4 to s7: an instruction may use a part of what another one wrote.
    return [f"s{int(number) * words + k}" for k in range(words)] or [name]


@functools.lru_cache(maxsize=1 << 16)
def riscv(instruction: Instruction) -> UsedRegisters:
    """The operands of an RV32 instruction."""
    operands = instruction.operands
    written = 0 if _RISCV_WRITES_NOTHING.fullmatch(instruction.mnemonic) else 1
    writes = {r for operand in operands[:written] for r in _RISCV.findall(operand)}
    reads = {r for operand in operands[written:] for r in _RISCV.findall(operand)}
    address = {r for operand in operands if "(" in operand for r in _RISCV.findall(operand)}
    return UsedRegisters(frozenset(writes), frozenset(reads), frozenset(address))
