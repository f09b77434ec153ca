"""Cycles of short sequences, counted by hand with the manuals' tables."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from microgen.running.timing import CoreTimings, of_cpu
from microgen.running.timing.cores import CORES
from microgen.target.cpu import CPUS
from microgen.verifier.instructions import arch_arm, arch_riscv
from microgen.verifier.instructions.instruction import Instruction
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_RISCV_GCC

Case = tuple[str, int]

# DDI 0432C, table 3-1.
M0: list[Case] = [
    ("adds r0, r0, r1; muls r0, r1; lsls r0, r0, #2", 3),
    ("ldr r0, [r1]; ldr r2, [r3]; str r0, [r2]", 6),
    ("ldmia r0!, {r1, r2, r3}; stmia r4!, {r1, r2}", 4 + 3),
    ("push {r4, r5, lr}; bl .", 4 + 4),
    ("mrs r0, primask; dmb", 8),
]
# DDI 0484C, table 3-1.
M0PLUS: list[Case] = [("ldr r0, [r1]; push {r4, lr}; bl .", 2 + 3 + 3), ("dsb; bics r0, r1", 4)]
# DDI 0337I, table 3-1 and section 3.3, whose examples are the first four.
M3: list[Case] = [
    ("ldr r0, [r1]; ldr r1, [r2]", 3),
    ("ldr r0, [r1, r2]; str r0, [r3, #20]", 3),
    ("ldr r0, [r1, r2]; str r1, [r3, r2]", 3),
    ("ldr r0, [r1, r5]; ldr r1, [r2]; ldr r2, [r3, #4]", 4),
    ("ldr r0, [r1]; ldr r2, [r0]", 4),
    ("adds r1, r1, #4; ldr r0, [r1]", 1 + 3),
    ("str r0, [r1]; str r0, [r1, r2]; ldr r3, [r4]", 1 + 2 + 2),
    ("ldrd r0, r1, [r2]; ldmia r2!, {r3, r4, r5}; push {r0-r7}", 3 + 4 + 9),
    ("mul r0, r1, r2; mla r0, r1, r2, r3; smull r0, r1, r2, r3; smlal r0, r1, r2, r3", 1 + 2 + 9),
    ("sdiv r0, r1, r2; it eq; moveq r0, #1", 7 + 1 + 1),
]
# DDI 0439D, tables 3-1 and 7-1, table 7-1.
M4: list[Case] = [
    ("smlad r0, r1, r2, r0; smull r0, r1, r2, r3; smlal r0, r1, r2, r3; mls r0, r1, r2, r3", 4),
    ("sxtb16 r0, r1, ror #8; ssat r0, #8, r0; pkhbt r0, r1, r2; bfi r0, r1, #1, #2; bic r0, r1", 5),
    ("vldr s0, [r0]; vldr d1, [r0]; vldmia r0!, {s4-s7}", 2 + 3 + 5),
    ("vmla.f32 s0, s1, s2; vadd.f32 s3, s4, s5", 3 + 1),
    ("vmul.f32 s0, s1, s2; vadd.f32 s3, s0, s5", 1 + 1 + 1),
    ("vdiv.f32 s0, s1, s2; vsqrt.f32 s1, s2; vabs.f32 s3, s4", 14 + 14 + 1),
]
# Of two beats in two cycles each, a load and a multiply overlap by one.
M55: list[Case] = [
    ("vldrb.u8 q0, [r0], #16; vmladava.s8 r2, q1, q2; vldrb.u8 q3, [r1], #16", 1 + 1 + 2),
    ("vadd.i32 q0, q1, q2; vadd.i32 q3, q4, q5", 2 + 2),
    ("vldrb.u8 q0, [r0]; adds r3, #1", 2 + 1),
]
M7: list[Case] = [
    ("adds r0, #1; adds r1, #1; adds r2, #1; adds r3, #1", 2),
    ("adds r0, #1; adds r0, #1", 2),
    ("ldr r0, [r1]; adds r2, #1; adds r0, #1", 1 + 1 + 1),
    ("mul r0, r1, r2; mul r3, r4, r5", 2),
]
M33: list[Case] = [("ldr r0, [r1]; adds r0, #1", 2 + 1), ("adds r0, #1; adds r1, #1", 2)]
# SiFive FE310-G000 Manual, section 3.3.
E31: list[Case] = [
    ("lw a0, 0(a1); addi a2, a2, 1; addi a0, a0, 1", 3),
    ("lw a0, 0(a1); addi a0, a0, 1", 3),
    ("lb a0, 0(a1); addi a0, a0, 1", 4),
    ("mul a0, a1, a2; mul a3, a4, a5", 5 + 1),
    ("mul a0, a1, a2; addi a3, a3, 1; add a0, a0, a3", 5 + 1),
    ("div a0, a1, a2; addi a3, a3, 1; neg a0, a0", 17 + 1),
    ("sw a0, 0(a1); beqz a0, .", 2),
]


def _assembled(cpu: str, sequences: Sequence[str], folder: Path) -> list[list[Instruction]]:
    """The instructions of each sequence, after a label of its own."""
    core = CPUS[cpu]
    is_arm = core.architecture == "arm"
    head = ".syntax unified\n.thumb\n" if is_arm else ""
    text = "".join(f"s{k}:\n{s.replace('; ', chr(10))}\n" for k, s in enumerate(sequences))
    (folder / "s.s").write_text(f".text\n{head}{text}")
    made = [f"{core.toolchain}gcc", *core.cflags, "-c", str(folder / "s.s"), "-o", "s.o"]
    subprocess.run(made, check=True, cwd=folder)
    dump = [f"{core.toolchain}objdump", "-d", *core.objdump_flags, "s.o"]
    shown = subprocess.run(dump, check=True, cwd=folder, capture_output=True, text=True).stdout
    parse = arch_arm.Arm().parse if is_arm else arch_riscv.RiscV().parse
    parts = re.split(r"(?m)^[0-9a-f]{8} <s\d+>:$", shown)[1:]
    return [list(parse(part).values()) for part in parts]


@pytest.mark.parametrize(
    ("cpu", "cases"),
    [
        pytest.param(cpu, cases, marks=NEEDS_RISCV_GCC if cpu == "rv32imac" else NEEDS_ARM_GCC)
        for cpu, cases in {
            "cortex-m0": M0,
            "cortex-m0plus": M0PLUS,
            "cortex-m3": M3,
            "cortex-m4f": M4,
            "cortex-m7f": M7,
            "cortex-m33": M33,
            "cortex-m55": M55,
            "rv32imac": E31,
        }.items()
    ],
)
def test_cycles_follow_from_the_manual(cpu: str, cases: list[Case], tmp_path: Path) -> None:
    core = of_cpu(CPUS[cpu])
    assert core is not None
    sequences = [text for text, _ in cases]
    found = [core.block(block) for block in _assembled(cpu, sequences, tmp_path)]
    assert dict(zip(sequences, found, strict=True)) == dict(cases)


@NEEDS_ARM_GCC
@pytest.mark.parametrize(
    ("cpu", "branch", "taken"),
    [
        ("cortex-m0", "beq .", 2),  # 1 or 3
        ("cortex-m0", "pop {r4, pc}", 3),  # 4 + N
        ("cortex-m0plus", "beq .", 1),  # 1 or 2
        ("cortex-m0plus", "pop {r4, pc}", 2),  # 3 + N
        ("cortex-m3", "beq .", 1),  # P
        ("cortex-m3", "bx lr", 2),
        ("cortex-m4", "ldr pc, [r0]", 3),  # at least five
        ("cortex-m4", "pop {r4, pc}", 2),
        ("cortex-m33", "beq .", 2),
        ("cortex-m7", "b .", 0),
        ("cortex-m55", "le lr, s0", 0),
    ],
)
def test_a_taken_branch_takes_further_cycles(
    cpu: str, branch: str, taken: int, tmp_path: Path
) -> None:
    core = of_cpu(CPUS[cpu])
    ((instruction,),) = _assembled(cpu, [branch], tmp_path)
    assert core is not None
    assert core.taken(instruction, None) == taken


def test_a_jump_into_the_middle_of_a_word_reads_two() -> None:
    core = of_cpu(CPUS["cortex-m4"])
    assert core is not None
    branch, odd, even = (
        Instruction(0, 2, "b", ("106 <x>",)),
        Instruction(0x106, 4, "add", ()),
        Instruction(0x108, 4, "add", ()),
    )
    assert [core.taken(branch, at) for at in (odd, even, None)] == [2, 1, 1]


def test_every_core_but_the_host_is_modelled() -> None:
    assert {name for name, cpu in CPUS.items() if of_cpu(cpu) is None} == {"host"}


@pytest.mark.parametrize("core", CORES, ids=lambda core: core.name)
def test_every_row_names_its_source(core: CoreTimings) -> None:
    manuals = r"(DDI \w+, (table|section) [\w.-]+|SiFive .* Manual, section [\d.]+)"
    for row in core.rows:
        assert re.match(manuals, row.source) or "fitted" in row.source
    assert core.rows[-1].mnemonics == ".*"
    if not core.is_fitted:
        assert all(re.match(manuals, row.source) for row in core.rows)
