"""Thumb instructions, read from the text of ``objdump -d``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import replace

from microgen.verifier.instructions.arm import COMPARES, effect
from microgen.verifier.instructions.instruction import CONDITIONS, Instruction
from microgen.verifier.instructions.listing import Line, lines

# Encodings are one or two half words. The text of a line that has another form is not read.
_LINE = re.compile(
    r"\s*(?P<address>[0-9a-f]+):\t(?P<encoding>[0-9a-f]{4}(?: [0-9a-f]{4})?) *\t(?P<text>.*)"
)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]!?|[^,\s][^,]*")
_IT = re.compile(r"i(t[te]{0,3})")


def parse(text: str) -> dict[int, Instruction]:
    """Address -> instruction. Data between instructions (``.word`` and so on) is left out."""
    return {i.address: i for i in _grouped([*_instructions(text)])}


def _grouped(instructions: list[Instruction]) -> Iterator[Instruction]:
    """The instructions with ``skip_to``. Instructions under one condition are skipped together."""
    group: list[Instruction] = []
    for instruction in instructions:
        if group and not _continues(group[-1], instruction):
            yield from _passed_over_together(group)
            group = []
        if instruction.condition:
            group.append(instruction)
        else:
            yield instruction
    yield from _passed_over_together(group)


def _continues(before: Instruction, instruction: Instruction) -> bool:
    """Whether an instruction runs if and only if the one before it does: same condition, same
    flags."""
    # After new flags the same condition may have another result.
    sets_flags = before.mnemonic in COMPARES or before.mnemonic.endswith("s")
    is_same = before.condition and before.condition == instruction.condition
    return bool(is_same) and before.next == instruction.address and not sets_flags


def _passed_over_together(group: list[Instruction]) -> Iterator[Instruction]:
    if len(group) == 1:
        yield group[0]
        return
    # The others run if and only if the first does, so only the first has the condition.
    for i, instruction in enumerate(group):
        condition = "" if i else instruction.condition
        yield replace(instruction, condition=condition, skip_to=group[-1].next)


def _instructions(text: str) -> Iterator[Instruction]:
    pending = 0  # instructions of the IT block that are still to come
    for line in lines(text, _LINE, comment=";@"):
        instruction = _instruction(line, pending > 0)
        pending = max(pending - 1, 0)
        if instruction.mnemonic.startswith("it") and (block := _IT.fullmatch(instruction.mnemonic)):
            pending = len(block[1])
        yield instruction


def _instruction(line: Line, is_conditional: bool) -> Instruction:
    address, encoding, text, operand_text = line
    name, condition = _mnemonic(text, is_conditional)
    operands, end = _operands(operand_text), address + len(encoding)
    decoded = effect(name, operands)
    return Instruction(address, len(encoding), name, operands, condition, end, encoding, decoded)


@functools.lru_cache(2**10)
def _mnemonic(text: str, is_conditional: bool) -> tuple[str, str]:
    """The mnemonic without width and condition, and the condition."""
    mnemonic = text[:-2] if text.endswith((".n", ".w")) else text
    if not is_conditional:
        return mnemonic, ""
    head, dot, tail = mnemonic.partition(".")
    condition = head[-2:] if head[-2:] in CONDITIONS else "al"
    return _without_condition(head) + dot + tail, condition


@functools.lru_cache(2**14)
def _operands(text: str) -> tuple[str, ...]:
    return tuple(operand.strip() for operand in _OPERAND.findall(text))


def _without_condition(mnemonic: str) -> str:
    return mnemonic[:-2] if mnemonic[-2:] in CONDITIONS else mnemonic
