from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from microgen.base import resources
from microgen.building import toolchain
from microgen.building.builder import build
from microgen.target import board as boards
from tests.support.minimal_project import (
    NBYTES,
    OPERATORS,
    board_params,
    built,
    needs_build,
    needs_qemu,
    with_statement,
    write,
)
from tests.support.tools import NEEDS_CC

EMULATED = [name for name in boards.available() if boards.load(name).qemu]
# One for each kind of start-up code and of input and output. The others are slow.
USUAL = {
    *("microbit", "mps2_an386", "mps3_an547", "qemu_cortex_m3", "qemu_riscv32", "native"),
    *("sifive_e", "stm32vldiscovery"),
}
CRT = resources.folder("crt")


def run(board: str, elf: Path, folder: Path) -> toolchain.Finished:
    qemu = boards.load(board).qemu
    if qemu is None:
        return toolchain.run([elf.resolve()], seconds=10, cwd=folder)
    options = ["-nographic", "-semihosting-config", "enable=on,target=native", "-kernel", elf]
    return toolchain.run(
        [qemu.system, "-M", qemu.machine, *qemu.args, *options], seconds=20, cwd=folder
    )


def run_with(statement: str, board: str, folder: Path) -> toolchain.Finished:
    """Runs the model after the statement was put in front of its first operator."""
    elf = build(write(folder / "project", board, with_statement(statement))).elf
    return run(board, elf, folder)


def _each() -> list[ParameterSet]:
    return [
        pytest.param(name, marks=[*marks, *[pytest.mark.slow] * (name not in USUAL)])
        for (name,), marks, _ in board_params(*EMULATED, "native")
    ]


@pytest.fixture(scope="module", params=_each())
def firmware(request: pytest.FixtureRequest) -> tuple[str, Path]:
    return request.param, built(request.param).elf


@needs_build
@needs_qemu
class TestFirmware:
    def test_without_an_input_file_it_runs_once(
        self, firmware: tuple[str, Path], tmp_path: Path
    ) -> None:
        board, elf = firmware
        finished = run(board, elf, tmp_path)
        # The output also has QEMU's own warning that a timer of lm3s6965evb is off.
        line = re.search(r"^microgen: status=0 samples=1 stack=(\d+)\r?$", finished.output, re.M)
        assert finished.ok
        assert line
        sums = " ".join(map(str, range(1, NBYTES + 1)))
        assert re.search(rf"^microgen: output y = {sums}\r?$", finished.output, re.M)
        used = int(line[1])
        assert used == 0 if board == "native" else 32 < used < 256
        assert not list(tmp_path.iterdir())

    def test_it_runs_every_sample_of_a_file(
        self, firmware: tuple[str, Path], tmp_path: Path
    ) -> None:
        samples = np.random.default_rng(1).integers(-100, 100, (3, NBYTES), np.int8)
        samples.tofile(tmp_path / "microgen_input.bin")
        finished = run(*firmware, tmp_path)
        output = np.fromfile(tmp_path / "microgen_output.bin", np.int8).reshape(3, NBYTES)
        assert finished.ok
        assert "status=0 samples=3 " in finished.output
        assert "microgen: output" not in finished.output
        assert (output == samples + np.arange(1, NBYTES + 1, dtype=np.int8)).all()

    def test_an_empty_file_is_no_sample(self, firmware: tuple[str, Path], tmp_path: Path) -> None:
        (tmp_path / "microgen_input.bin").touch()
        assert "status=0 samples=0 " in run(*firmware, tmp_path).output
        assert (tmp_path / "microgen_output.bin").read_bytes() == b""

    def test_a_file_that_ends_inside_a_sample_is_status_2(
        self, firmware: tuple[str, Path], tmp_path: Path
    ) -> None:
        (tmp_path / "microgen_input.bin").write_bytes(bytes(NBYTES + 1))
        finished = run(*firmware, tmp_path)
        assert finished.status == 2
        assert "microgen: microgen_input.bin ends inside a sample" in finished.output

    def test_an_output_that_cannot_be_written_is_status_2(
        self, firmware: tuple[str, Path], tmp_path: Path
    ) -> None:
        (tmp_path / "microgen_input.bin").write_bytes(bytes(NBYTES))
        (tmp_path / "microgen_output.bin").mkdir()
        finished = run(*firmware, tmp_path)
        assert finished.status == 2
        assert "microgen: cannot write microgen_output.bin" in finished.output


@needs_build
@needs_qemu
@pytest.mark.parametrize("board", board_params("microbit", "mps3_an547", "qemu_riscv32", "native"))
def test_an_inference_that_fails_is_status_1(board: str, tmp_path: Path) -> None:
    (tmp_path / "microgen_input.bin").write_bytes(bytes(2 * NBYTES))
    finished = run_with("if (in0[0] == 0) { return -7; }", board, tmp_path)
    assert finished.status == 1
    assert "microgen: status=-1 samples=1 " in finished.output


UNIMPLEMENTED = '__asm__ volatile("unimp");'
FLASH = "*(volatile int32_t *)0x80000000 = 1;"
UNDEFINED = '__asm__ volatile(".inst.n 0xde00");'
NO_MEMORY = "*(volatile int32_t *)0xB0000000 = 1;"
NO_CODE = "((void (*)(void))0xB0000001)();"
TOO_DEEP = (
    "volatile int8_t big[8000]; for (int i = 7999; i > 0; i--) { big[i] = 1; } out0[0] = big[5];"
)
FAULTS = [
    ("microbit", UNDEFINED, "HardFault", r"0x000000\w\w", 0),
    ("microbit", NO_MEMORY, "HardFault", r"0x000000\w\w", 0),
    ("mps2_an386", UNDEFINED, "UsageFault", r"0x000000\w\w", 1 << 16),
    ("mps2_an386", NO_MEMORY, "BusFault", r"0x000000\w\w", 1 << 15 | 1 << 9),
    ("mps2_an386", NO_CODE, "MemManage", "0xb0000000", 1),
    ("stm32vldiscovery", UNDEFINED, "UsageFault", r"0x08000\w\w\w", 1 << 16),
    ("mps2_an505", UNDEFINED, "UsageFault", r"0x10000\w\w\w", 1 << 16),
    ("mps2_an505", TOO_DEEP, "UsageFault", r"0x10000\w\w\w", 1 << 20),
    ("mps3_an547", UNDEFINED, "UsageFault", r"0x000000\w\w", 1 << 16),
    ("mps3_an547", TOO_DEEP, "UsageFault", r"0x000000\w\w", 1 << 20),
    # The core could not push a frame, so there is no pc to report.
    ("microbit", TOO_DEEP, "HardFault", "0x00000000", 0),
    ("qemu_riscv32", UNIMPLEMENTED, "IllegalInstruction", r"0x80000\w\w\w", 0),
    ("qemu_riscv32", NO_MEMORY, "StoreAccessFault", r"0x80000\w\w\w", 0),
    ("qemu_riscv32", NO_CODE, "InstructionAccessFault", "0xb0000000", 0),
    # Both are RAM in QEMU. The start-up code has made them read-only.
    ("qemu_riscv32", FLASH, "StoreAccessFault", r"0x80000\w\w\w", 0),
    ("qemu_riscv32", TOO_DEEP, "StoreAccessFault", r"0x80000\w\w\w", 0),
]
CASES = [pytest.param(*case, marks=board_params(case[0])[0].marks) for case in FAULTS]


@needs_build
@needs_qemu
@pytest.mark.sampled(10)
@pytest.mark.parametrize(("board", "statement", "fault", "pc", "cfsr"), CASES)
def test_a_fault_is_reported_with_its_cause(
    board: str, statement: str, fault: str, pc: str, cfsr: int, tmp_path: Path
) -> None:
    finished = run_with(statement, board, tmp_path)
    line = rf"microgen: fault={fault} pc={pc} lr=0x\w{{8}} cfsr=0x{cfsr:08x}\r?\n"
    assert finished.status == 3
    assert re.fullmatch(line, finished.output)


RECURSION = """
int32_t recurse(volatile int32_t *n);
int32_t recurse(volatile int32_t *n)
{
    volatile int32_t next = *n + 1;
    return *n < 100000 ? recurse(&next) + next : 0;
}
"""


# QEMU has memory below the stack on the MPS2 boards, so only a timeout stops an overflow there.
@needs_build
@needs_qemu
@pytest.mark.parametrize("board", board_params("microbit", "mps3_an547", "qemu_riscv32"))
def test_a_recursion_ends_in_a_fault(board: str, tmp_path: Path) -> None:
    statement = "volatile int32_t n = in0[0]; out0[0] = (int8_t)recurse(&n);"
    operators = with_statement(statement)[OPERATORS]
    changed = operators.replace("<string.h>\n", f"<string.h>\n{RECURSION}")
    elf = build(write(tmp_path / "project", board, {OPERATORS: changed})).elf
    finished = run(board, elf, tmp_path)
    assert finished.status == 3
    fault = {"microbit": "HardFault", "mps3_an547": "UsageFault"}.get(board, "StoreAccessFault")
    assert re.search(rf"fault={fault} pc=0x[08]000\w{{4}} lr=0x[08]", finished.output)


@needs_build
@needs_qemu
@pytest.mark.parametrize("board", board_params("microbit", "mps3_an547", "qemu_riscv32"))
def test_initialised_data_is_copied_and_the_rest_cleared(board: str, tmp_path: Path) -> None:
    statement = (
        "static volatile int32_t set = 1234567, clear;"
        " if (set != 1234567 || clear != 0) { return -1; } set = 0; clear = 1;"
    )
    finished = run_with(statement, board, tmp_path)
    assert "status=0 samples=1 " in finished.output


@needs_build
@needs_qemu
@pytest.mark.parametrize(
    ("board", "origin"), [("stm32vldiscovery", 0x08000000), ("mps2_an505", 0x10000000)]
)
def test_the_vectors_are_those_in_flash(board: str, origin: int, tmp_path: Path) -> None:
    statement = f"if (*(volatile uint32_t *)0xE000ED08 != {origin}) {{ return -1; }}"
    finished = run_with(statement, board, tmp_path)
    assert "status=0 samples=1 " in finished.output


@needs_build
@needs_qemu
@pytest.mark.parametrize("board", board_params("mps2_an386", "qemu_riscv32"))
def test_the_stack_paint_shows_what_an_operator_used(board: str, tmp_path: Path) -> None:
    plain = run_with("out0[0] = 0;", board, tmp_path / "plain")
    deep = run_with(
        TOO_DEEP.replace("8000", "2000").replace("7999", "1999"), board, tmp_path / "deep"
    )
    used = [int(re.search(r"stack=(\d+)", f.output)[1]) for f in (plain, deep)]  # type: ignore[index]
    assert 1900 < used[1] - used[0] < 2100


def library(folder: Path, *arguments: str | Path) -> ctypes.CDLL:
    """Compiles sources of the runtime to a shared library for the host."""
    options = ["-std=c99", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{CRT / 'include'}"]
    target = folder / "library.so"
    command = ["cc", *options, f"-I{CRT / 'src'}", *map(str, arguments), "-o", str(target)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


FAKE_SEMIHOSTING = """
#include "platform/semihosting.h"
uint64_t ticks;
int32_t frequency;
int32_t mg_semihosting(uint32_t operation, const void *argument)
{
    if (operation == SYS_TICKFREQ) {
        return frequency;
    }
    if (operation == SYS_ELAPSED) {
        *(uint64_t *)(uintptr_t)argument = ticks;
        return 0;
    }
    return -1;
}
"""


@pytest.fixture(scope="module")
def timer(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The boards' platform on a fake semihosting, whose clock is the variable ``ticks``."""
    folder = tmp_path_factory.mktemp("timer")
    (folder / "fake.c").write_text(FAKE_SEMIHOSTING)
    names = ("platform_semihosting", "semihosting_io", "io")
    return library(folder, *(CRT / f"src/platform/{name}.c" for name in names), folder / "fake.c")


def elapsed(timer: ctypes.CDLL, start: int, stop: int, frequency: int) -> float:
    ticks = ctypes.c_uint64.in_dll(timer, "ticks")
    ctypes.c_int32.in_dll(timer, "frequency").value = frequency
    seconds = ctypes.c_double(-1.0)
    ticks.value = start
    assert timer.TVMPlatformTimerStart() == 0
    ticks.value = stop
    assert timer.TVMPlatformTimerStop(ctypes.byref(seconds)) == 0
    return seconds.value


@NEEDS_CC
@pytest.mark.parametrize("frequency", [1, 3, 32_768, 1_000_000, 1_000_000_000, 2**31 - 1])
@pytest.mark.parametrize("ticks", [0, 1, 2, 999, 10**9, 10**9 + 1, 2**53 + 1, 2**61 + 12345])
def test_the_timers_double_is_the_quotient_rounded_down(
    timer: ctypes.CDLL, ticks: int, frequency: int
) -> None:
    found = elapsed(timer, 5, 5 + ticks, frequency)
    numerator, denominator = found.as_integer_ratio()
    assert numerator * frequency <= ticks * denominator
    numerator, denominator = np.nextafter(found, np.inf).as_integer_ratio()
    assert numerator * frequency > ticks * denominator


@NEEDS_CC
def test_a_timer_that_does_not_run_cannot_stop_nor_a_running_one_start(timer: ctypes.CDLL) -> None:
    bad_state = 0x0504
    seconds = ctypes.c_double(-1.0)
    assert timer.TVMPlatformTimerStop(ctypes.byref(seconds)) == bad_state
    assert seconds.value == -1.0
    assert timer.TVMPlatformTimerStart() == 0
    assert timer.TVMPlatformTimerStart() == bad_state
    ctypes.c_int32.in_dll(timer, "frequency").value = 1
    assert timer.TVMPlatformTimerStop(ctypes.byref(seconds)) == 0


@NEEDS_CC
def test_numbers_are_printed_as_printf_would(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    io = library(tmp_path, CRT / "src/platform/platform_posix.c", CRT / "src/platform/io.c")
    numbers = [0, 7, 10, 100, 1009, -1, -10, 2**31 - 1, -(2**31), 1_000_000_000, 1_020_300_400]
    for number in numbers:
        io.mg_io_print_int(number)
        io.mg_io_print(b" ")
        io.mg_io_print_hex(number & 0xFFFFFFFF)
        io.mg_io_print(b"\n")
    expected = [f"{number} 0x{number & 0xFFFFFFFF:08x}" for number in numbers]
    assert capfd.readouterr().out.splitlines() == expected


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The boards' memcpy and similar functions under other names."""
    names = [f"-D{name}=mg_{name}" for name in ("memcpy", "memmove", "memset")]
    return library(tmp_path_factory.mktemp("memory"), *names, CRT / "src/platform/freestanding.c")


LENGTHS_AND_OFFSETS = [
    (n, i, j) for n in (0, 1, 3, 4, 7, 8, 33) for i in range(5) for j in range(5)
]


@NEEDS_CC
@pytest.mark.parametrize("name", ["mg_memcpy", "mg_memmove"])
def test_copies_touch_exactly_their_bytes(memory: ctypes.CDLL, name: str) -> None:
    for nbytes, to, start in LENGTHS_AND_OFFSETS:
        data = bytes(range(100, 140))
        source = ctypes.create_string_buffer(data, 40)
        target = ctypes.create_string_buffer(40)
        getattr(memory, name)(
            ctypes.byref(target, to), ctypes.byref(source, start), ctypes.c_size_t(nbytes)
        )
        assert target.raw == (bytes(to) + data[start : start + nbytes]).ljust(40, b"\0")


@NEEDS_CC
def test_memmove_copies_between_overlapping_places(memory: ctypes.CDLL) -> None:
    for nbytes, to, start in LENGTHS_AND_OFFSETS:
        data = bytes(range(100, 140))
        buffer = ctypes.create_string_buffer(data, 40)
        memory.mg_memmove(
            ctypes.byref(buffer, to), ctypes.byref(buffer, start), ctypes.c_size_t(nbytes)
        )
        assert buffer.raw == data[:to] + data[start : start + nbytes] + data[to + nbytes :]


@NEEDS_CC
def test_memset_sets_exactly_its_bytes(memory: ctypes.CDLL) -> None:
    for nbytes, to, _ in LENGTHS_AND_OFFSETS:
        buffer = ctypes.create_string_buffer(40)
        memory.mg_memset(ctypes.byref(buffer, to), 0x1A5, ctypes.c_size_t(nbytes))
        assert buffer.raw == (bytes(to) + b"\xa5" * nbytes).ljust(40, b"\0")


@NEEDS_CC
def test_error_codes_are_tvms(tmp_path: Path) -> None:
    codes = {
        "kTvmErrorNoError": 0,
        "kTvmErrorFunctionNameNotFound": 0x0100,
        "kTvmErrorFramingShortPacket": 0x0201,
        "kTvmErrorWriteStreamLongWrite": 0x0301,
        "kTvmErrorSessionReceiveBufferBusy": 0x0401,
        "kTvmErrorPlatformNoMemory": 0x0503,
        "kTvmErrorPlatformStackAllocBadFree": 0x0505,
        "kTvmErrorGeneratedInvalidStorageId": 0x0600,
        "kTvmErrorExecutorModuleNoSuchInput": 0x0702,
        "kTvmErrorFunctionCallInvalidArg": 0x0803,
        "kTvmErrorTimeEvaluatorBadHandle": 0x0900,
        "kTvmErrorSystemErrorMask": -(2**31),
    }
    lines = ['#include "tvm/runtime/crt/error_codes.h"']
    lines += [f"int code_{name}(void) {{ return (int){name}; }}" for name in codes]
    (tmp_path / "codes.c").write_text("\n".join(lines))
    found = library(tmp_path, tmp_path / "codes.c")
    assert {name: getattr(found, f"code_{name}")() for name in codes} == codes
