"""RV32IMAC instructions, read from the text of ``objdump -d``, and their effects.

Source of the meanings: The RISC-V Instruction Set Manual, volume I.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from microgen.verifier.instructions import instruction as language
from microgen.verifier.instructions.instruction import (
    NOTHING,
    Access,
    ControlFlow,
    Effect,
    EffectiveAddress,
    FlowKind,
    Instruction,
    Number,
    Predicate,
    Register,
    Relative,
    Source,
    decoder,
)
from microgen.verifier.instructions.listing import UNDEFINED, lines

_LINE = re.compile(
    r"\s*(?P<address>[0-9a-f]+):\t(?P<encoding>[0-9a-f]{8}|[0-9a-f]{4}) *\t(?P<text>.*)"
)
TRAP_VECTOR = "mtvec"
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+)")
_REGISTERS = re.compile(r"\b(?:[xats]\d+|ra|sp|gp|tp)\b")
_MEMORY = re.compile(r"(-?\d+)?\((\w+)\)")

_NO_RESULT = re.compile(
    r"s[bhwd]|fs[wd]|fence.*|nop|pause|wfi|csr[wsc]i?|ret|[msu]ret|unimp|ecall|ebreak|sfence.*"
)
# Zcmp, and vendors' pairs: several registers, including the stack pointer.
_MANY_RESULTS = re.compile(r"cm\..*|th\..*")

# Conditions of branches by Arm's names, and whether the operands change places.
_BRANCHES = {
    "beq": ("eq", False),
    "bne": ("ne", False),
    "blt": ("lt", False),
    "bge": ("ge", False),
    "bltu": ("lo", False),
    "bgeu": ("hs", False),
    "bgt": ("lt", True),
    "ble": ("ge", True),
    "bgtu": ("lo", True),
    "bleu": ("hs", True),
}
_SETS = {"slt": "lt", "slti": "lt", "sltu": "lo", "sltiu": "lo"}
_UNARY = {"mv": "move", "li": "move", "not": "not"}
_BINARY = {
    "add": "add",
    "sub": "subtract",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "sll": "shift left modulo",
    "srl": "shift right modulo",
}
# They write their first operand, with a value that no domain needs.
_HAVOC = re.compile(r"(mul|mulhu?|mulhsu|divu?|remu?|sra|slt|sltu)i?|sltiu|sext\.[bh]")
_TRANSFER = re.compile(r"(?P<way>[ls])(?P<size>[bhw])(?P<unsigned>u?)")
_SIZES = {"b": 1, "h": 2, "w": 4}  # bytes, by the mnemonic's suffix


def parse(text: str) -> dict[int, Instruction]:
    """Address -> instruction. Data between instructions (``.word`` and so on) is left out."""
    return {instruction.address: instruction for instruction in _instructions(text)}


def _instructions(text: str) -> Iterator[Instruction]:
    for line in lines(text, _LINE, comment="#"):
        operands = line.operands.strip()
        parts = tuple(part.strip() for part in operands.split(",")) if operands else ()
        size, decoded = len(line.encoding), effect(line.mnemonic, parts)
        yield Instruction(
            line.address, size, line.mnemonic, parts, encoding=line.encoding, effect=decoded
        )


@decoder
def effect(name: str, operands: tuple[str, ...]) -> Effect:
    """The effect of an instruction."""
    if name == UNDEFINED or _MANY_RESULTS.fullmatch(name):
        return language.UNDEFINED
    if (flow := _control(name, operands)) is not None:
        return Effect("", flow=flow, reads=_registers(operands))
    if name in ("ebreak", "ecall"):  # semihosting and system calls return in a0
        return Effect("unmodelled", clobbers=frozenset({"a0"}))
    # A return from a trap: where the program goes on is not followed.
    if name in ("mret", "sret", "uret"):
        return Effect("unmodelled", flow=ControlFlow("return"))
    if name.startswith("csr") and name != "csrr" and TRAP_VECTOR in operands:
        # The other forms set or clear bits of an unknown old value.
        source = (Register(operands[-1]),) if name == "csrw" else ()
        return Effect("install", sources=source, clobbers=frozenset({operands[0]}))
    try:
        computed = _computed(name, operands)
    except (LookupError, ValueError):
        computed = Effect("unmodelled")
    results = 0 if _NO_RESULT.fullmatch(name) else 1
    clobbers, reads = frozenset(operands[:results]), _registers(operands[results:])
    return replace(computed, clobbers=clobbers, reads=reads)


def _registers(operands: tuple[str, ...]) -> frozenset[str]:
    """The general registers that operands name; floats' registers are not followed."""
    return frozenset(name for operand in operands for name in _REGISTERS.findall(operand))


def _control(name: str, operands: tuple[str, ...]) -> ControlFlow | None:
    """The flow of an instruction that only branches, jumps or returns; None for others."""
    if test := _test(name, operands):
        return ControlFlow("branch", test=test)
    if name == "ret":
        return ControlFlow("return", EffectiveAddress(Register("ra")))
    simple: dict[str, FlowKind] = {
        "j": "jump",
        "jal": "call",
        "unimp": "stop",
        "jr": "indirect jump",
        "jalr": "indirect call",
    }
    if name not in simple:
        return None
    target = _address(operands[-1]) if name in ("jr", "jalr") else None
    link = operands[0] if len(operands) > 1 else "ra"
    return ControlFlow(simple[name], target, link if name in ("jal", "jalr") else "")


def _test(name: str, operands: tuple[str, ...]) -> Predicate | None:
    is_of_zero = name not in _BRANCHES and name.endswith("z")
    branch = _BRANCHES.get(name[:-1] if is_of_zero else name)
    if branch is None:
        return None
    condition, is_swapped = branch
    values = *map(_source, operands[:-1]), *((Number(0),) if is_of_zero else ())
    left, right = reversed(values) if is_swapped else values
    return Predicate(condition, (left, right))


def _source(text: str) -> Source:
    if _NUMBER.fullmatch(text):
        return Number(int(text, 0))
    return Number(0) if text == "zero" else Register(text)


def _address(text: str) -> EffectiveAddress:
    """The address of an operand such as ``16(a5)``, or ``a5`` in a jump."""
    memory = _MEMORY.fullmatch(text)
    if memory is None:
        return EffectiveAddress(_source(text))
    return EffectiveAddress(_source(memory[2]), int(memory[1] or 0))


def _computed(name: str, operands: tuple[str, ...]) -> Effect:
    """The effect of the instruction without flow. Raises LookupError or ValueError if this module
    does not know the form of its text."""
    if name in ("nop", "fence"):
        return NOTHING
    first, *others = operands
    targets = () if first == "zero" else (first,)  # x0 keeps its value
    if match := _TRANSFER.fullmatch(name):
        size = _SIZES[match["size"]]
        access = Access(_address(operands[1]), match["way"] == "s", size)
        if access.is_store:
            return Effect("store", (), (_source(first),), access=access)
        # A word fills the register, so there is no sign to extend.
        is_signed = size < 4 and not match["unsigned"]
        return Effect("load", targets, access=replace(access, is_signed=is_signed))
    if name == "lui":
        # objdump prints the upper 20 bits as a number of their own.
        return Effect("move", targets, (Number(int(others[0], 0) << 12),))
    if name == "auipc":
        return Effect("move", targets, (Relative(int(others[0], 0) << 12),))
    return _of_sources(name, targets, tuple(map(_source, others)))


def _of_sources(name: str, targets: tuple[str, ...], sources: tuple[Source, ...]) -> Effect:
    """An instruction that computes one value."""
    stem = name.removesuffix("i") if name != "li" else name
    if stem in _UNARY:
        (_,) = sources
        return Effect(_UNARY[stem], targets, sources)
    if name == "zext.b":
        return Effect("and", targets, (*sources, Number(0xFF)))
    if name == "neg":  # the assembler's name of `sub` from zero
        return Effect("subtract from", targets, (*sources, Number(0)))
    if name in ("seqz", "snez"):
        test = Predicate("eq" if name == "seqz" else "ne", (sources[0], Number(0)))
        return Effect("select", targets, (Number(1), Number(0)), test=test)
    if name in _SETS and len(sources) == 2:
        test = Predicate(_SETS[name], (sources[0], sources[1]))
        return Effect("select", targets, (Number(1), Number(0)), test=test)
    if stem in _BINARY:
        left, right = sources
        return Effect(_BINARY[stem], targets, (left, right))
    if not _HAVOC.fullmatch(name):
        raise ValueError
    return Effect("havoc", targets)
