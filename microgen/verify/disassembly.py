"""Thumb instructions, read from the text of ``objdump -d``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"\s*([0-9a-f]+):\t([0-9a-f]{4}(?: [0-9a-f]{4})?|[0-9a-f]{8}) *\t(\S+)(?:\t(.*))?")
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]!?|[^,\s][^,]*")
_CONDITIONS = (
    "eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le al".split()
)
_IT = re.compile(r"i(t[te]{0,3})")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. ``mnemonic`` is without width (``.w``) and, inside an IT block, without
    the condition, which ``is_conditional`` stands for. Operands are as objdump prints them."""

    address: int
    size: int
    mnemonic: str
    operands: tuple[str, ...]
    is_conditional: bool = False

    @property
    def next(self) -> int:
        """The address behind it."""
        return self.address + self.size

    @property
    def target(self) -> int:
        """Where a direct branch goes: its last operand, ``<address> <name>``."""
        return int(self.operands[-1].split()[0], 16)

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}"


def parse(text: str) -> dict[int, Instruction]:
    """Address -> instruction. Data between instructions (``.word`` and so on) is left out."""
    return {instruction.address: instruction for instruction in _instructions(text)}


def _instructions(text: str) -> Iterator[Instruction]:
    pending = 0  # instructions of an IT block that are still to come
    for match in map(_LINE.match, text.splitlines()):
        if match is None or match[3].startswith("."):
            continue
        instruction = _instruction(match, is_conditional=pending > 0)
        pending = max(pending - 1, 0)
        if block := _IT.fullmatch(instruction.mnemonic):
            pending = len(block[1])
        yield instruction


def _instruction(match: re.Match[str], *, is_conditional: bool) -> Instruction:
    mnemonic = re.sub(r"\.[nw]$", "", match[3])
    if is_conditional:
        head, dot, tail = mnemonic.partition(".")
        mnemonic = _without_condition(head) + dot + tail
    operands = re.split(r"\s*[;@]", match[4] or "", maxsplit=1)[0]
    return Instruction(
        address=int(match[1], 16),
        size=len(match[2].replace(" ", "")) // 2,
        mnemonic=mnemonic,
        operands=tuple(operand.strip() for operand in _OPERAND.findall(operands)),
        is_conditional=is_conditional,
    )


def _without_condition(mnemonic: str) -> str:
    return mnemonic[:-2] if mnemonic[-2:] in _CONDITIONS else mnemonic


def is_conditional_branch(mnemonic: str) -> bool:
    """Whether it is ``b<condition>``, which stands outside of IT blocks."""
    return mnemonic[:1] == "b" and mnemonic[1:] in _CONDITIONS
