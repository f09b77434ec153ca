"""The disassembly is all of the code, and LLVM reads the same from it."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from microgen.building.builder import disassemble
from microgen.verifier import stack_bound, verify
from microgen.verifier.elf.elf import Elf, load
from microgen.verifier.instructions.architecture import Code
from microgen.verifier.instructions.architectures import architecture_of
from microgen.verifier.instructions.flow import code_of
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.instructions.listing import unread
from microgen.verifier.instructions.machine import ENTRY, UnknownStackPointerError
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_RISCV_GCC, needs
from tests.verifier.instructions import second_opinion
from tests.verifier.instructions.second_opinion import Facts

Make = Callable[..., Any]
BOARDS = [
    *("microbit", "mps2_an385"),
    # Their instructions are among those of the next.
    *(pytest.param(f"mps2_an{n}", marks=pytest.mark.slow) for n in (386, 500, 505)),
    "mps3_an547",
    pytest.param("qemu_riscv32", marks=NEEDS_RISCV_GCC),
]
COMPILERS = ["gcc", pytest.param("llvm", marks=NEEDS_LLVM)]

pytestmark = NEEDS_ARM_GCC

# Pushes of both register files, wide shifts, vectors, switches, calls of libgcc.
CODE = """
__attribute__((noinline)) static int64_t wide(int64_t a, int32_t n) { return (a << n) / (n | 1); }
__attribute__((noinline)) static float mean(volatile float* p, int32_t n)
{
    double s = 0, t = 1;
    for (int i = 0; i < n; i++) { s += p[i]; t *= p[i] / s; }
    return (float)(s / t);
}
__attribute__((noinline)) static void add(int8_t* restrict a, const int8_t* restrict b, int32_t n)
{ for (int i = 0; i < n; i++) a[i] = (int8_t)(a[i] + b[i]); }
int32_t extra(int32_t n)
{
    volatile float f[200]; int8_t a[64], b[64];
    for (int i = 0; i < 64; i++) { a[i] = (int8_t)(n ^ i); b[i] = (int8_t)(n * i); f[i] = a[i]; }
    add(a, b, n & 63);
    int32_t s = (int32_t)mean(f, n & 63);
    switch (n & 15) {
    case 0: s += a[n & 7]; break; case 1: s *= b[2]; break; case 2: s -= a[3] * 7; break;
    case 3: s ^= b[n & 3]; break; case 4: s |= a[5]; break; case 5: s /= a[6] | 1; break;
    case 6: s <<= b[7] & 7; break; default: s += (int32_t)wide(s, n & 31);
    }
    return s + (int32_t)(wide(n, 3) >> (n & 63));
}
"""


def _built(project: Make, board: str) -> tuple[Any, Elf, str]:
    made = project(board).add(CODE)
    made.build()
    return made, load(made.elf), disassemble(made.elf, made.board)


def _in_it_blocks(code: Code) -> set[int]:
    """The addresses of the instructions in IT blocks."""
    found: set[int] = set()
    for it in code.instructions.values():
        after = it.next
        for _ in it.mnemonic[1:] if re.fullmatch(r"it[te]{0,3}", it.mnemonic) else "":
            found.add(after)
            after = code.instructions[after].next
    return found


def _facts(code: Code, instruction: Instruction, is_conditional: bool) -> Facts:
    control = code.arch.control(instruction, ENTRY, code)
    target = control.target
    is_direct = instruction.operands and "<" in instruction.operands[-1]
    kind = control.kind if is_direct and target and control.kind != "next" else ""
    kind = "branch" if kind == "jump" and is_conditional else kind
    place = target.offset if kind and target else 0
    try:
        after = code.machine.step(instruction, ENTRY)["sp"]
    except UnknownStackPointerError:
        return Facts(instruction.size, kind, place, None)
    return Facts(instruction.size, kind, place, after.offset if after.base == "sp" else None)


@pytest.mark.sampled(2)
@needs("llvm-objdump")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("board", BOARDS)
def test_llvm_reads_the_same(project: Make, board: str) -> None:
    made, elf, text = _built(project, board)
    code = code_of(elf, made.board, architecture_of(made.board).parse(text))
    assert [*unread(elf, code.instructions)] == []
    in_it = _in_it_blocks(code)
    own = {at: _facts(code, found, at in in_it) for at, found in code.instructions.items()}
    other = second_opinion.read(made.elf, made.board.cpu)
    assert own.keys() == other.keys()
    differing = {
        f"{address:#x} {code.instructions[address]}": (own[address], other[address])
        for address in own
        if own[address] != other[address]
    }
    assert differing == {}
    assert len(own) > 300
    assert {"branch", "jump"} <= {facts.control for facts in own.values()}
    assert any(facts.stack for facts in own.values())


Change = Callable[[str], str]
# A line of an instruction of 2 bytes.
_LINE = r"(?m)^ *([0-9a-f]+):\t([0-9a-f]{4}) *\t(?!\.).*$"


def _without(line: str) -> str:
    return ""


def _otherwise(line: str) -> str:
    return re.sub(r":\t[0-9a-f]{4}", ":\tbf00", line)


def _unknown_form(line: str) -> str:
    return line.replace(":\t", ": ")


def _as_data(line: str) -> str:
    return re.sub(r"([0-9a-f]{4} +\t).*", r"\1.short\t0x1234", line)


def _zeros(line: str) -> str:
    return "\t..."


@pytest.mark.parametrize("change", [_without, _otherwise, _unknown_form, _as_data, _zeros])
@pytest.mark.parametrize("board", ["mps2_an386", BOARDS[-1]])
def test_code_that_is_not_read_as_it_is(
    project: Make, monkeypatch: pytest.MonkeyPatch, board: str, change: Change
) -> None:
    made, _, text = _built(project, board)
    assert verify(made.root).check("stack").status == "ok"
    before, label, after = text.partition("<extra>:\n")
    found = re.search(_LINE, after)
    assert found is not None
    address, line = int(found[1], 16), found[0]
    changed = before + label + after.replace(line, change(line), 1)
    monkeypatch.setattr("microgen.verifier.disassemble", lambda *_: changed)
    check = verify(made.root).check("stack")
    assert check.status == "failed"
    said = "where the ELF has other bytes" if change is _otherwise else "no instruction could be"
    assert said in check.found
    assert f"at {address:#x}" in check.found


def test_a_jump_table_that_is_marked_as_code(project: Make) -> None:
    made, elf, text = _built(project, "mps2_an386")
    found = re.search(r"(?m)^ *([0-9a-f]+):.*\ttbb\t", text.partition("<extra>:\n")[2])
    assert found is not None
    jump = int(found[1], 16)
    assert jump + 4 in {s.address for s in elf.symbols if s.name == "$d"}
    _rename(made.elf, jump + 4, "$d", "$t")
    assert f"at {jump:#x}: its jump table is code" in " ".join(stack_bound(made.root).problems)


def _rename(path: Path, address: int, old: str, new: str) -> None:
    """Give a symbol the name of another one."""
    data = bytearray(path.read_bytes())
    table = ELFFile(io.BytesIO(data)).get_section_by_name(".symtab")
    names = {symbol.name: symbol.entry.st_name for symbol in table.iter_symbols()}
    for number, symbol in enumerate(table.iter_symbols()):
        if (symbol.name, symbol.entry.st_value) == (old, address):
            struct.pack_into("<I", data, table["sh_offset"] + 16 * number, names[new])
    path.write_bytes(data)
