"""RISC-V firmware: the same checks and the same model, with other instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from microgen.building.builder import disassemble
from microgen.verifier import VerifyReport, stack_bound, verify
from microgen.verifier.elf.elf import load
from microgen.verifier.instructions.arch_riscv import extensions
from microgen.verifier.instructions.flow import code_of, frame
from microgen.verifier.instructions.instruction import Instruction
from microgen.verifier.instructions.machine import (
    Machine,
    Registers,
    StackValue,
    UnknownStackPointerError,
)
from microgen.verifier.instructions.riscv import parse
from tests.support.tools import NEEDS_RISCV_GCC

Make = Callable[..., Any]
BOARD = "qemu_riscv32"
NOT_ASKED = {"boot_block", "device_hooks", "graph", "ram_budget", "flash_budget", "registry"} | {
    *("shared_workspace", "module_blob", "module_loaders", "external_functions", "reproduce"),
    *("requantization", "proofs"),  # its layers are requantized as specified
}
LEVELS = pytest.mark.parametrize("level", ["-O0", "-Os", "-O2", "-O3"])
MODELS = pytest.mark.parametrize("model", ["medlow", "medany"])


def make(project: Make, *flags: str) -> Any:
    built = project(BOARD)
    built.flags = list(flags) or ["-O2"]
    return built


def failed(project: Any, check: str) -> str:
    report: VerifyReport = verify(project.root, project_files=False)
    assert check in [c.name for c in report.failed]
    return report.check(check).found


@pytest.mark.sampled(4)
@NEEDS_RISCV_GCC
@MODELS
@LEVELS
def test_sound_firmware_passes_at_every_optimisation(project: Make, level: str, model: str) -> None:
    report = verify(make(project, level, f"-mcmodel={model}").build().root)
    assert report.failed == ()
    assert {c.name for c in report.checks if c.status == "n/a"} == NOT_ASKED


@NEEDS_RISCV_GCC
@LEVELS
def test_frames_are_those_that_the_compiler_reports(project: Make, level: str) -> None:
    built = make(project, level).add(
        "__attribute__((noinline)) static int32_t big(volatile int32_t* p, int64_t n)\n"
        "{ volatile int32_t a[6000]; for (int i = 0; i < 6000; i++) a[i] = *p;\n"
        "  return a[n % 6000] + (int32_t)(n / (*p | 1)); }\n"
        "int32_t extra(int32_t n) { volatile int32_t x = n; return big(&x, n) + x; }"
    )
    built.build()
    elf = load(built.elf)
    code = code_of(elf, built.board, parse(disassemble(built.elf, built.board)))
    frames = {s.stem: frame(code, s.address) for s in elf.functions()}
    reported = {}
    for path in (built.root / "build").glob("*.su"):
        for line in path.read_text().splitlines():
            place, nbytes, kind = line.split("\t")
            if kind == "static":
                reported[place.split(":")[-1]] = int(nbytes)
    common = reported.keys() & frames.keys()
    assert {"big", "main", "tvmgen_default_fused_dense"} <= common
    assert {n: frames[n].depth for n in common} == {n: reported[n] for n in common}
    assert all(not f.problems for f in frames.values())


@NEEDS_RISCV_GCC
def test_bound_is_the_deepest_path_and_the_trap_handler(project: Make) -> None:
    result = stack_bound(make(project).build().root)
    assert result.problems == ()
    steps = [step.rsplit(" ", 1) for step in result.path]
    cut = next(i for i, (name, _) in enumerate(steps) if name == "exception frame")
    thread, handler = (sum(int(n) for _, n in part) for part in (steps[:cut], steps[cut + 1 :]))
    assert steps[cut][1] == "0"  # the hardware pushes nothing
    assert steps[cut + 1 :] == [["Trap_Handler", "0"], ["on_trap", "16"]]
    assert result.nbytes == -(-thread // 16) * 16 + handler
    assert [name for name, _ in steps[:3]] == ["Reset_Handler", "main", "tvmgen_default_run"]


@NEEDS_RISCV_GCC
@MODELS
@pytest.mark.parametrize("level", ["-Os", "-O2"])
def test_switches_are_followed(project: Make, level: str, model: str) -> None:
    cases = "".join(f"case {i}: return far{i % 3}(n * {i * i + 3});\n" for i in range(12))
    functions = "".join(
        f"__attribute__((noinline)) static int32_t far{i}(int32_t n)\n"
        f"{{ volatile int32_t a[{50 * (i + 1)}]; a[n & 31] = n; return a[2]; }}\n"
        for i in range(3)
    )
    built = make(project, level, f"-mcmodel={model}")
    built.add(f"{functions}int32_t extra(int32_t n) {{ switch (n) {{ {cases} }} return 0; }}")
    built.build()
    assert "\tjr\ta" in disassemble(built.elf, built.board)
    assert verify(built.root).failed == ()
    assert any(step.startswith("far2 6") for step in stack_bound(built.root).path)


@NEEDS_RISCV_GCC
@MODELS
def test_call_through_a_constant_table_takes_the_deepest_entry(project: Make, model: str) -> None:
    built = make(project, "-O2", f"-mcmodel={model}").add(
        "static int32_t flat(int32_t n) { return 2 * n; }\n"
        "static int32_t deep(int32_t n) { volatile int32_t a[100]; a[n & 63] = n; return a[1]; }\n"
        "static int32_t (*const hooks[2])(int32_t) = {flat, deep};\n"
        "int32_t extra(int32_t n) { return hooks[n & 1](n) + 1; }"
    )
    assert verify(built.build().root).failed == ()
    assert any(step.startswith("deep 4") for step in stack_bound(built.root).path)


ASSEMBLY = '__attribute__((naked)) int32_t extra(int32_t n) {{ __asm__("{}"); }}'


@NEEDS_RISCV_GCC
@pytest.mark.parametrize(
    ("code", "found"),
    [
        (
            "int32_t extra(int32_t n) { return n < 2 ? n : extra(n - 1) + extra(n - 2) * 3; }",
            "recursion: extra -> extra",
        ),
        (
            "static int32_t twice(int32_t n) { return 2 * n; }\n"
            "int32_t (*volatile hook)(int32_t) = twice;\n"
            "int32_t extra(int32_t n) { return hook(n) + 1; }",
            "unknown indirect call",
        ),
        (
            "int32_t extra(int32_t n) { volatile char a[n & 63]; a[0] = 1; return a[0]; }",
            "cannot follow the stack pointer",
        ),
        (
            ASSEMBLY.format(r"1: addi sp, sp, -16\n addi a0, a0, -1\n bnez a0, 1b\n ret"),
            "the stack grows in a loop",
        ),
        (ASSEMBLY.format(r"addi sp, sp, -16\n ret"), "returns 16 bytes off"),
        (ASSEMBLY.format(r"li sp, 0x40\n sw a0, 0(sp)\n ret"), "cannot follow the stack pointer"),
        (ASSEMBLY.format(r"jal t0, main"), "unknown indirect call"),
        (ASSEMBLY.format(r"csrw mtvec, a0\n ret"), "unknown indirect handler"),
    ],
)
def test_what_cannot_be_bounded_fails(project: Make, code: str, found: str) -> None:
    built = make(project, "-O1").add(code).build()
    assert found in failed(built, "stack")


@NEEDS_RISCV_GCC
def test_the_trap_handlers_stack_counts(project: Make) -> None:
    plain = stack_bound(make(project).build().root).nbytes
    deep = make(project).edit("startup.c", "frame[4]", "frame[100]").build()
    assert stack_bound(deep.root).path[-1] == "on_trap 400"
    assert stack_bound(deep.root).nbytes > plain


@NEEDS_RISCV_GCC
@pytest.mark.parametrize(
    ("flag", "found"),
    [
        ('-DTRAP_VECTOR="Trap_Handler+2"', "is not aligned to 4"),
        ('-DTRAP_VECTOR="input_x"', "is not in an executable section"),
    ],
)
def test_trap_vector_that_leads_nowhere(project: Make, flag: str, found: str) -> None:
    built = make(project, "-O2", flag).edit("main.c", "static int8_t input_x", "int8_t input_x")
    assert found in failed(built.build(), "vector_table")


@NEEDS_RISCV_GCC
def test_without_a_trap_handler(project: Make) -> None:
    built = make(project).edit("startup.c", "csrw mtvec, t0", "nop").build()
    assert "the mtvec vector 0x0" in failed(built, "vector_table")


@NEEDS_RISCV_GCC
@pytest.mark.parametrize("stack_top", ["__stack_top-64", "0x1000"])
def test_reset_that_takes_another_stack(project: Make, stack_top: str) -> None:
    built = make(project, "-O2", f'-DSTACK_TOP="{stack_top}"').build()
    assert "cannot follow the stack pointer" in failed(built, "stack")


@NEEDS_RISCV_GCC
def test_handler_that_is_only_there_before_the_stack_is_a_jump(project: Make) -> None:
    built = make(project).edit(
        "startup.c", '"la t0, "', '"la t0, 2f\\n csrw mtvec, t0\\n .balign 4\\n 2: la t0, "'
    )
    assert stack_bound(built.build().root).path[-2:] == ("Trap_Handler 0", "on_trap 16")
    assert verify(built.root).failed == ()


@NEEDS_RISCV_GCC
def test_entry_that_is_not_at_the_start_of_flash(project: Make) -> None:
    built = make(project).edit("board.ld", "ENTRY(Reset_Handler)", "ENTRY(main)").build()
    assert "the reset vector is 0x80000000" in failed(built, "entry_point")


@NEEDS_RISCV_GCC
def test_software_floating_point_is_found_and_followed(project: Make) -> None:
    built = make(project).add("int32_t extra(int32_t n) { return (int32_t)(n * 0.3f / (n + 2)); }")
    report = verify(built.build().root)
    assert [check.name for check in report.failed] == ["soft_float"]
    assert "__divsf3 is linked" in report.check("soft_float").found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rv32imac", "rv32imac"),
        ("rv32i2p1_m2p0_a2p1_c2p0_zmmul1p0", "rv32imac"),
        ("rv32i2p0_c2p0_a2p0_m2p0_zicsr2p0", "rv32imac"),
        ("rv32i2p1_m2p0_f2p2_zba1p0", "rv32imf_zba"),
    ],
)
def test_architectures_without_versions(name: str, expected: str) -> None:
    assert extensions(name) == expected


@NEEDS_RISCV_GCC
def test_code_for_another_core_is_found(project: Make) -> None:
    built = make(project, "-O2", "-march=rv32imafc", "-mabi=ilp32f")
    built.libraries = []
    built.edit("default_lib1.c", "sums[i] / (input[i] + 1000)", "sums[i]")
    report = verify(built.build().root)
    assert [check.name for check in report.failed] == ["build_attributes"]
    found = report.check("build_attributes").found
    assert "rv32imafc, expected rv32imac; float ABI is single" in found


@pytest.mark.parametrize(
    ("text", "mnemonic", "operands"),
    [
        ("80000100:\t1141                \tadd\tsp,sp,-16", "add", ("sp", "sp", "-16")),
        (
            "80000100:\t1e850513          \tadd\ta0,a0,488 # ffffb1e8 <stk+0x7>",
            "add",
            ("a0", "a0", "488"),
        ),
        (
            "80000100:\tf8a7ece3          \tbltu\ta5,a0,80000098 <sw+0x36>",
            "bltu",
            ("a5", "a0", "80000098 <sw+0x36>"),
        ),
        ("80000100:\t8082                \tret", "ret", ()),
        ("80000100:\tffff                \t???", "undefined", ("0xffff",)),
    ],
)
def test_instruction_text(text: str, mnemonic: str, operands: tuple[str, ...]) -> None:
    instruction = parse(text)[0x80000100]
    assert (instruction.mnemonic, instruction.operands) == (mnemonic, operands)


def test_data_is_no_instruction() -> None:
    text = "  10:\t1234                \t.2byte\t0x1234\n  12:\t0001                \tnop\n"
    assert parse(text) == {0x12: Instruction(0x12, 2, "nop", (), encoding=b"\x01\0")}


def step(text: str, **known: StackValue) -> Registers:
    (instruction,) = parse(f"  80000100:\t00000000          \t{text}").values()
    machine = Machine({0x80001000: 0x42}.get, 0x80402000, adds_parts=True)
    return machine.step(instruction, {"sp": StackValue("sp", -16), **known})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("auipc\ta0,0x1", StackValue("const", 0x80001100)),
        ("lui\ta0,0xffffb", StackValue("const", 0xFFFFB000)),
        ("add\ta0,sp,-2000", StackValue("sp", -2016)),
        ("add\ta0,a1,a2", StackValue("indexed", 0x80001000)),  # the value of a2 is not known
        ("lw\ta0,0(a1)", StackValue("const", 0x42)),
        ("lw\ta0,4(a1)", None),
        ("mv\ta0,sp", StackValue("sp", -16)),
        ("neg\ta0,a1", StackValue("const", 0x7FFFF000)),
        ("lbu\ta0,0(a1)", None),
        ("amoadd.w\ta0,a1,(a2)", None),
        ("csrr\ta0,mcause", None),
    ],
)
def test_what_an_instruction_leaves(text: str, expected: StackValue | None) -> None:
    before = {"a0": StackValue("const", 7), "a1": StackValue("const", 0x80001000)}
    assert step(text, **before).get("a0") == expected


@pytest.mark.parametrize(
    "text", ["lw\tsp,0(sp)", "and\tsp,sp,-16", "csrrw\tsp,mscratch,sp", "cm.push\t{ra},-16"]
)
def test_stack_pointers_that_cannot_be_followed(text: str) -> None:
    with pytest.raises(UnknownStackPointerError):
        step(text)
