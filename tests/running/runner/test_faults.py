"""The reason why a run failed, concluded from what it left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from microgen.running.runner import faults
from microgen.running.runner.image import Image

IMAGE = Image(
    Path("firmware.elf"),
    "EM_ARM",
    0,
    {"main": (0x100, 0x40), "tvmgen_default_fused_x": (0x200, 0x80)},
)


def message(code: int, console: str = "", diagnostics: str = "") -> str:
    return str(faults.failure(code, console, diagnostics, IMAGE))


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (0x00010000, ": an undefined instruction"),
        (0x02000000, ": a division by zero"),
        (0x00008200, ": data was accessed where there is no memory"),
        (0x00080000, ": a coprocessor that is off or absent: the FPU or MVE"),
        (0x00000082, ": data was accessed where the memory map does not allow it"),
        (0, ""),
    ],
)
def test_a_fault_is_put_in_words(status: int, cause: str) -> None:
    console = f"microgen: fault=BusFault pc=0x00000204 lr=0x00000111 cfsr={status:#010x}\n"
    assert message(3, console) == (
        f"firmware.elf: the firmware ended in a BusFault{cause}; "
        "pc 0x204 in tvmgen_default_fused_x, called from 0x110 in main"
    )


def test_a_fault_without_a_frame_is_a_stack_overflow() -> None:
    console = "microgen: fault=UsageFault pc=0x0 lr=0x0 cfsr=0x00100000\n"
    assert "UsageFault: the stack overflowed; the place is unknown" in message(3, console)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("IllegalInstruction", "an IllegalInstruction: an undefined instruction; pc 0x204 in"),
        ("StoreAccessFault", "a StoreAccessFault: a write to where there is no memory, or none"),
        ("Exception", "an Exception; pc 0x204 in tvmgen_default_fused_x"),
    ],
)
def test_a_trap_is_put_in_words(kind: str, words: str) -> None:
    console = f"microgen: fault={kind} pc=0x00000204 lr=0x00000110 cfsr=0x00000000\n"
    assert f"the firmware ended in {words}" in message(3, console)


def test_a_jump_through_a_null_pointer_is_no_stack_overflow_on_riscv() -> None:
    console = "microgen: fault=InstructionAccessFault pc=0x0 lr=0x110 cfsr=0x0\n"
    said = str(faults.failure(3, console, "", replace(IMAGE, machine="EM_RISCV")))
    assert "pc 0x0, called from 0x110 in main" in said


def test_a_place_outside_every_symbol_is_a_number() -> None:
    console = "microgen: fault=HardFault pc=0xfffffffe lr=0x101 cfsr=0x0\n"
    assert "pc 0xfffffffe, called from 0x100 in main" in message(3, console)


def test_an_abort_names_its_code() -> None:
    said = "the firmware aborted: status 0x503, kTvmErrorPlatformNoMemory: there is not"
    assert said in message(1, "microgen: abort=0x00000503\n")


def test_a_locked_up_core_is_reported_with_its_place() -> None:
    said = "qemu: fatal: Lockup: can't escalate 3 to HardFault\n\nR00=0 R15=00000208\nXPSR=4"
    assert "the core locked up" in message(-6, "", said)
    assert "at 0x208 in tvmgen_default_fused_x" in message(-6, "", said)


def test_a_sanitizer_is_quoted() -> None:
    said = "=====\n==12==ERROR: AddressSanitizer: global-buffer-overflow on address 0x5\n#0 main"
    assert "AddressSanitizer: global-buffer-overflow on address 0x5" in message(1, "", said)
    said = "model.c:3:4: runtime error: signed integer overflow: 2147483647 + 1"
    assert "model.c:3:4: runtime error: signed integer overflow" in message(1, "", said)


def test_other_ends_quote_what_was_said() -> None:
    console = "microgen: microgen_input.bin ends inside a sample\n"
    assert message(2, console).endswith(
        "exit code 2; it said: microgen: microgen_input.bin ends inside a sample"
    )


def test_an_end_without_a_status_line_is_a_failure() -> None:
    assert faults.status_line("hello\n") is None
    assert message(0).endswith("ended with exit code 0; it said: nothing")


def test_the_last_status_line_counts() -> None:
    console = "microgen: status=1 samples=1 stack=8\nmicrogen: status=-2 samples=5 stack=96\n"
    assert faults.status_line(console) == (-2, 5, 96)
