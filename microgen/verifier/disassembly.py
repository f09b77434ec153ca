"""Thumb instructions, read from the text of ``objdump -d``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from microgen.verifier.architecture import Instruction

# Its options decide whether objdump prints the encoding, so sizes come from the addresses.
_LINE = re.compile(
    r"\s*([0-9a-f]+):\t(?:(?:[0-9a-f]{8}|[0-9a-f]{4}(?: [0-9a-f]{4})?) *\t)?"
    r"(?:([a-z.]\S*)(?:\t(.*))?|\s*[;@] <UNDEFINED> instruction: (0x[0-9a-f]{8}))"
)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]!?|[^,\s][^,]*")
_CONDITIONS = frozenset(re.findall(r"\w\w", "eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le al"))
_COMPARES = frozenset({"cmp", "cmn", "tst", "teq"})
_IT = re.compile(r"i(t[te]{0,3})")


def parse(text: str) -> dict[int, Instruction]:
    """Address -> instruction. Data between instructions (``.word`` and so on) is left out."""
    return {i.address: i for i in _grouped([*_instructions(text)])}


def _grouped(instructions: list[Instruction]) -> Iterator[Instruction]:
    """The instructions with ``skip_to``: those under one condition are skipped together."""
    group: list[Instruction] = []
    for instruction in instructions:
        if group and not _continues(group[-1], instruction):
            yield from _passed_over_together(group)
            group = []
        group.append(instruction)
    yield from _passed_over_together(group)


def _continues(before: Instruction, instruction: Instruction) -> bool:
    """Whether it runs if and only if the one before it does: same condition, same flags."""
    sets_flags = before.mnemonic in _COMPARES or before.mnemonic.endswith("s")
    is_same = before.condition and before.condition == instruction.condition
    return bool(is_same) and before.next == instruction.address and not sets_flags


def _passed_over_together(group: list[Instruction]) -> Iterator[Instruction]:
    for i, instruction in enumerate(group):
        condition = "" if i else instruction.condition
        yield replace(instruction, condition=condition, skip_to=group[-1].next)


def _instructions(text: str) -> Iterator[Instruction]:
    lines = [match for match in map(_LINE.match, text.splitlines()) if match is not None]
    addresses = [int(match[1], 16) for match in lines]
    pending = 0  # instructions of the IT block that are still to come
    for match, address, following in zip_longest(lines, addresses, addresses[1:]):
        if match[4]:
            yield _undefined(address, int(match[4], 16))
            continue
        if match[2].startswith("."):
            continue
        instruction = _instruction(match, _size(match[2], address, following), pending > 0)
        pending = max(pending - 1, 0)
        if block := _IT.fullmatch(instruction.mnemonic):
            pending = len(block[1])
        yield instruction


def _undefined(address: int, code: int) -> Instruction:
    """An instruction that objdump does not know. It is ``unlisted`` if it can write any register
    except the stack pointer, and ``undefined`` if nothing is known about it.

    With certain operands, Binutils 2.40 does not know some of CSEL and similar instructions, and
    some of Armv8.1-M's shifts of two registers. None of them may name the stack pointer. Source:
    Armv8-M Architecture Reference Manual, C2.3.5, encodings 0b11101010_0101.
    """
    is_known = code >> 20 == 0xEA5
    return Instruction(address, 4, "unlisted" if is_known else "undefined", (f"{code:#x}",))


def _size(mnemonic: str, address: int, following: int | None) -> int:
    """The number of bytes up to the next line. Before a gap, where no code follows, the mnemonic
    gives the size."""
    if following is not None and following - address in (2, 4):
        return following - address
    return 4 if mnemonic.endswith(".w") or mnemonic.startswith(("bl", "tb", "v")) else 2


def _instruction(match: re.Match[str], size: int, is_conditional: bool) -> Instruction:
    mnemonic = re.sub(r"\.[nw]$", "", match[2])
    condition = ""
    if is_conditional:
        head, dot, tail = mnemonic.partition(".")
        condition = head[-2:] if head[-2:] in _CONDITIONS else "al"
        mnemonic = _without_condition(head) + dot + tail
    operands = re.split(r"\s*[;@]", match[3] or "", maxsplit=1)[0]
    return Instruction(
        address=int(match[1], 16),
        size=size,
        mnemonic=mnemonic,
        operands=tuple(operand.strip() for operand in _OPERAND.findall(operands)),
        condition=condition,
    )


def _without_condition(mnemonic: str) -> str:
    return mnemonic[:-2] if mnemonic[-2:] in _CONDITIONS else mnemonic


def is_conditional_branch(mnemonic: str) -> bool:
    """Whether it is ``b<condition>``, which is used outside of IT blocks."""
    return mnemonic[:1] == "b" and mnemonic[1:] in _CONDITIONS
