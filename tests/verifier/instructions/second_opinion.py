"""LLVM's reading of a firmware, with expressions of its own: what the flow analysis depends on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from microgen.building import toolchain
from microgen.target.cpu import Cpu

_LINE = re.compile(r" *([0-9a-f]+): ((?:[0-9a-f]{2} )+) *\t(\S+)(?:\t(.*))?")
_TARGET = re.compile(r"0x([0-9a-f]+) <")
_CONDITION = "eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_CALLS = re.compile(rf"bl({_CONDITION})?|jal")
_BRANCHES = re.compile(
    rf"b({_CONDITION}|eqz|nez|ltz|gez|gtz|lez|ltu|geu)(\.[nw])?"
    r"|cbn?z|le|letp|wls|wlstp(\.\d+)?"
)
_JUMPS = re.compile(r"b|b\.[nw]|j")
_LISTS = re.compile(r"v?(push|pop|stm|ldm)")
_BYTES = {"d": 8, "q": 16}


class Facts(NamedTuple):
    """``control`` is "call", "branch", "jump" or empty, for those whose ``target`` is in the
    instruction. ``stack`` is the change of the stack pointer; None if it is not a number."""

    size: int
    control: str
    target: int
    stack: int | None


def read(elf: Path, cpu: Cpu) -> dict[int, Facts]:
    """Address -> facts, from llvm-objdump."""
    name = cpu.name.removesuffix("f")
    chosen = (
        ["--mattr=+m,+a,+c"]
        if cpu.architecture == "riscv"
        else [f"--mcpu={name}", f"--triple={cpu.triple}"]
    )
    finished = toolchain.run(["llvm-objdump", "-d", "-z", *chosen, elf], seconds=60)
    assert finished.ok, finished.output
    matches = filter(None, map(_LINE.fullmatch, finished.output.splitlines()))
    return {
        int(m[1], 16): _facts(len(m[2]) // 3, m[3], m[4] or "")
        for m in matches
        if not m[3].startswith(".")
    }


def _facts(size: int, mnemonic: str, operands: str) -> Facts:
    target = _TARGET.search(operands)
    control = _control(mnemonic) if target else ""
    place = int(target[1], 16) if target and control else 0
    return Facts(size, control, place, _stack(mnemonic, operands.partition("@")[0].strip()))


def _control(mnemonic: str) -> str:
    kinds = {"call": _CALLS, "branch": _BRANCHES, "jump": _JUMPS}
    return next((kind for kind, names in kinds.items() if names.fullmatch(mnemonic)), "")


def _stack(mnemonic: str, operands: str) -> int | None:
    name = mnemonic.partition(".")[0]
    if _LISTS.match(name):
        is_stack = "push" in name or "pop" in name or operands.startswith("sp!")
        sign = -1 if re.search(r"push|stmdb", name) else 1
        return sign * _list_bytes(operands) if is_stack else 0
    if written := re.search(r"\[sp(?:, #(-?\d+))?\](!|, #(-?\d+))", operands):
        return int(written[1] if written[2] == "!" else written[3])
    added = re.fullmatch(r"sp, (?:sp, )?#?(-?\d+)", operands)
    if added and name.startswith(("add", "sub")):
        return int(added[1]) * (-1 if name.startswith("sub") else 1)
    reads = name.startswith(("str", "cmp", "cmn", "tst", "s", "b")) and not name.startswith("sub")
    return 0 if reads or not re.match(r"sp\b", operands) else None


def _list_bytes(operands: str) -> int:
    total = 0
    for part in operands[operands.index("{") + 1 : operands.index("}")].split(","):
        first, _, last = part.strip().partition("-")
        count = int(last[1:]) - int(first[1:]) + 1 if last else 1
        total += count * _BYTES.get(first[0], 4)
    return total
