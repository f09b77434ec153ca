"""The one description of instructions, and that both walks read the same from it."""

from __future__ import annotations

import pytest

from microgen.verifier.instructions import arch_arm, arch_riscv
from microgen.verifier.instructions.architecture import Architecture
from microgen.verifier.instructions.instruction import (
    UNDEFINED,
    Access,
    ControlFlow,
    EffectiveAddress,
    Instruction,
    Number,
    Predicate,
    Register,
    Relative,
    Update,
)
from microgen.verifier.instructions.machine import Machine, StackValue, UnknownStackPointerError
from microgen.verifier.runner_walk.execution import RunnerMemory, execute
from microgen.verifier.runner_walk.values import (
    STACK,
    CannotFollowError,
    PathState,
    SymbolicValue,
    const,
)

ARM, RISCV = arch_arm.Arm(), arch_riscv.RiscV()
AT, WORDS = 0x8100, {0x8000: 0x1234, 0x8108: 0x5678}
VALUES = {"r1": 0x8000, "r2": 3, "r3": 0x10, "a1": 0x8000, "a2": 3, "a3": 0x10}


def read(arch: Architecture, text: str) -> Instruction:
    mnemonic, *operands = text.split(maxsplit=1)
    encoding = "0000 0000" if arch is ARM else "00000000"
    line = "\t".join((f"{AT:x}:", f"{encoding} ", mnemonic, *operands))
    (found,) = arch.parse(f"    {line}").values()
    return found


@pytest.mark.parametrize(
    ("arch", "text", "operation", "targets", "sources"),
    [
        (ARM, "adds r0, r1, #4", "add", ("r0",), (Register("r1"), Number(4))),
        (ARM, "add r0, pc, #8", "add", ("r0",), (Relative(4, 4), Number(8))),
        (ARM, "negs r0, r1", "subtract from", ("r0",), (Register("r1"), Number(0))),
        (ARM, "muls r0, r1", "multiply", ("r0",), (Register("r1"),)),
        (ARM, "udiv r0, r1, r2", "havoc", ("r0",), ()),
        (ARM, "vmov r0, r1, d7", "move words", ("r0", "r1"), (Register("s14"), Register("s15"))),
        (ARM, "umull r0, r1, r2, r3", "unmodelled", (), ()),
        (RISCV, "lui a0,0x12345", "move", ("a0",), (Number(0x12345000),)),
        (RISCV, "addi zero,a0,1", "add", (), (Register("a0"), Number(1))),
        (RISCV, "seqz a0,a1", "select", ("a0",), (Number(1), Number(0))),
        (RISCV, "csrw mtvec,a0", "install", (), (Register("a0"),)),
        (RISCV, "amoadd.w a0,a1,(a2)", "unmodelled", (), ()),
    ],
)
def test_what_an_instruction_computes(
    arch: Architecture, text: str, operation: str, targets: object, sources: object
) -> None:
    effect = read(arch, text).effect
    assert (effect.operation, effect.targets, effect.sources) == (operation, targets, sources)


@pytest.mark.parametrize(
    ("arch", "text", "access", "update"),
    [
        (
            *(ARM, "ldr r0, [r1, r2, lsl #2]"),
            *(Access(EffectiveAddress(Register("r1"), 0, "r2", 2), False), None),
        ),
        (
            *(ARM, "strd r0, r1, [sp, #-8]!"),
            *(Access(EffectiveAddress(Register("sp"), -8), True), Update("sp", -8)),
        ),
        (
            *(ARM, "push {r4, lr}"),
            *(Access(EffectiveAddress(Register("sp"), -8), True), Update("sp", -8)),
        ),
        (
            *(ARM, "ldrsb.w r0, [r1], #1"),
            *(Access(EffectiveAddress(Register("r1")), False, 1, True), Update("r1", 1)),
        ),
        (RISCV, "lhu a0,-2(s0)", Access(EffectiveAddress(Register("s0"), -2), False, 2), None),
        (RISCV, "sw zero,12(sp)", Access(EffectiveAddress(Register("sp"), 12), True), None),
    ],
)
def test_memory_that_an_instruction_accesses(
    arch: Architecture, text: str, access: Access, update: Update | None
) -> None:
    effect = read(arch, text).effect
    assert (effect.access, effect.update) == (access, update)


@pytest.mark.parametrize(
    ("arch", "text", "flow"),
    [
        (ARM, "bl 8000 <f>", ControlFlow("call", link="lr")),
        (ARM, "bne.n 8000 <f>", ControlFlow("branch", test=Predicate("ne"))),
        (
            *(ARM, "cbz r0, 8000 <f>"),
            ControlFlow("branch", test=Predicate("eq", (Register("r0"), Number(0)))),
        ),
        (ARM, "bx lr", ControlFlow("return", EffectiveAddress(Register("lr")))),
        (ARM, "bx r3", ControlFlow("indirect jump", EffectiveAddress(Register("r3")))),
        (ARM, "pop {r4, pc}", ControlFlow("return")),
        (ARM, "ldr pc, [r3, #4]", ControlFlow("indirect jump")),
        (
            *(RISCV, "bgt a0,a1,8000 <f>"),
            ControlFlow("branch", test=Predicate("lt", (Register("a1"), Register("a0")))),
        ),
        (
            *(RISCV, "jalr 16(a5)"),
            ControlFlow("indirect call", EffectiveAddress(Register("a5"), 16), "ra"),
        ),
        (RISCV, "unimp", ControlFlow("stop")),
    ],
)
def test_where_execution_goes_on(arch: Architecture, text: str, flow: ControlFlow) -> None:
    assert read(arch, text).effect.flow == flow


def stack_result(arch: Architecture, instruction: Instruction) -> int | None:
    """The number that the stack walk knows of the first operand afterwards."""
    known = {name: StackValue("const", number) for name, number in VALUES.items()}
    machine = Machine(WORDS.get, 0x20008000, arch.adds_parts)
    after = machine.step(instruction, {"sp": StackValue("sp", 0), **known})
    result = after.get(instruction.operands[0])
    return result.offset if result and result.base == "const" else None


def runner_result(arch: Architecture, instruction: Instruction) -> int | None:
    """The same of the runner's walk."""
    registers = {name: const(number) for name, number in VALUES.items()}
    state = PathState(AT, {"sp": SymbolicValue(STACK), **registers})
    execute(instruction, state, RunnerMemory(WORDS.get, 0), arch.calls)
    result = state.registers.get(instruction.operands[0])
    return result.offset if result and result.is_constant else None


BOTH = [
    *((ARM, text, number) for text, number in {
        "mov r0, r1": 0x8000, "movs r0, #7": 7, "mvns r0, r2": 0xFFFFFFFC, "add r0, pc, #4": 0x8108,
        "adds r0, r1, r2": 0x8003, "subs r0, r1, #1": 0x7FFF, "negs r0, r2": 0xFFFFFFFD,
        "lsls r0, r2, #4": 0x30, "lsl r0, r1, r3": 0x80000000, "ldr r0, [r1, #0]": 0x1234,
        "ldr r0, [pc, #4]": 0x5678, "movt r1, #8192": 0x20008000,
    }.items()),
    *((RISCV, text, number) for text, number in {
        "mv a0,a1": 0x8000, "li a0,-7": 0xFFFFFFF9, "not a0,a2": 0xFFFFFFFC, "auipc a0,0x1": 0x9100,
        "add a0,a1,a2": 0x8003, "addi a0,a1,-1": 0x7FFF, "neg a0,a2": 0xFFFFFFFD,
        "slli a0,a2,0x4": 0x30, "sll a0,a1,a3": 0x80000000, "lw a0,0(a1)": 0x1234,
        "sub a0,a1,a2": 0x7FFD, "lui a0,0x8": 0x8000,
    }.items()),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "text", "number"), BOTH)
def test_both_walks_compute_the_same(arch: Architecture, text: str, number: int) -> None:
    instruction = read(arch, text)
    assert stack_result(arch, instruction) == number
    assert runner_result(arch, instruction) == number


@pytest.mark.parametrize(
    "text", ["blxns r3", "bfl 8000 <f>, 8200 <g>", "msr MSP, r0", "vpush {d3-<overflow reg d55>}"]
)
def test_what_neither_walk_follows(text: str) -> None:
    """Calls of other code, later branches, another stack, and texts that are no instruction."""
    instruction = read(ARM, text)
    assert instruction.effect == UNDEFINED
    with pytest.raises(UnknownStackPointerError):
        stack_result(ARM, instruction)
    with pytest.raises((CannotFollowError, ValueError)):
        runner_result(ARM, instruction)


def test_half_a_register_is_not_the_whole() -> None:
    with pytest.raises((CannotFollowError, ValueError)):
        runner_result(ARM, read(ARM, "vmov.f16 s0, r1"))


@pytest.mark.parametrize("text", ["movt r0, #2048", "ldr r0, [r9, #256]"])
def test_unknown_values_do_not_become_numbers(text: str) -> None:
    """Half of a stack pointer, and an offset without its base."""
    machine = Machine({0x100: 0x8001}.get, 0, ARM.adds_parts)
    before = {"sp": StackValue("sp", -8), "r0": StackValue("sp", -16)}
    assert "r0" not in machine.step(read(ARM, text), before)


def test_without_a_known_top_no_number_is_a_stack() -> None:
    """In another firmware, nothing may set the stack pointer to a number, not even to 0."""
    before = {"sp": StackValue("sp", -8), "r0": StackValue("const", 0)}
    with pytest.raises(UnknownStackPointerError):
        Machine(lambda _: None, 0, ARM.adds_parts).step(read(ARM, "mov sp, r0"), before)


def test_an_instruction_that_nobody_has_read_is_refused() -> None:
    assert Instruction(0, 2, "nop", ()).effect == UNDEFINED


@pytest.mark.parametrize(
    ("arch", "text", "written", "read_", "address"),
    [
        (ARM, "bic r9, r1, #3", "r9", "r1", ""),
        (ARM, "adds r0, #1", "r0", "r0", ""),
        (ARM, "bfi r3, ip, #16, #16", "r3", "r3 ip", ""),
        (ARM, "smlal r2, r3, r0, r1", "r2 r3", "r0 r1 r2 r3", ""),
        (ARM, "lsll r4, r5, #1", "r4 r5", "r4 r5", ""),  # unlike `lsl`
        (ARM, "lsl r4, r5, r6", "r4", "r5 r6", ""),
        (ARM, "vmlaldav.s16 r2, r3, q0, q1", "r2 r3", "r2 r3 s0 s1 s2 s3 s4 s5 s6 s7", ""),
        (ARM, "vidup.u32 q0, r2, #1", "r2 s0 s1 s2 s3", "r2 s0 s1 s2 s3", ""),
        (ARM, "vshlc q0, r1, #8", "r1 s0 s1 s2 s3", "r1 s0 s1 s2 s3", ""),
        (ARM, "vmov r2, r3, d7", "r2 r3", "s14 s15", ""),
        (ARM, "vmov d7, r2, r3", "s14 s15", "r2 r3", ""),
        (ARM, "vmov s0, r1", "s0", "r1", ""),
        (ARM, "vadd.i32 q0, q1, r2", "s0 s1 s2 s3", "s4 s5 s6 s7 r2", ""),
        (ARM, "push {r4, lr}", "", "r4 lr", ""),
        (ARM, "pop {r4, r6-r8}", "r4 r6 r7 r8", "sp", "sp"),
        (ARM, "ldmia r1!, {r2, r3}", "r2 r3", "r1", "r1"),
        (ARM, "ldrd r0, r1, [sp, #8]", "r0 r1", "sp", "sp"),
        (ARM, "str r0, [r1, r2, lsl #2]", "", "r0 r1 r2", "r1 r2"),
        (ARM, "tbb [pc, r0]", "", "pc r0", "pc r0"),
        (ARM, "svc 0x00ab", "r0", "", ""),
        (ARM, "vxyz.i8 r0, r1, q0", "r0 r1", "s0 s1 s2 s3", ""),  # not known: more results
        (RISCV, "add a0,a1,a2", "a0", "a1 a2", ""),
        (RISCV, "sw a0,4(sp)", "", "a0 sp", ""),
        (RISCV, "lw ra,12(sp)", "ra", "sp", ""),
    ],
)  # fmt: skip
def test_registers_that_an_instruction_uses(
    arch: Architecture, text: str, written: str, read_: str, address: str
) -> None:
    effect = read(arch, text).effect
    assert effect.clobbers == {*written.split()}
    assert effect.reads == {*read_.split()}
    assert effect.address == {*address.split()}
