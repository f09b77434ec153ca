"""The stack that random firmware takes, and what builds reserve that take more than expected."""

from __future__ import annotations

import subprocess
from itertools import accumulate
from pathlib import Path

import pytest

import microgen
from microgen import relay, verifier
from microgen.base.errors import CapacityError
from microgen.kernels import measured
from microgen.options import TOOLCHAINS
from microgen.relay import Function, IRModule
from scripts.measuring import tables
from tests.project.firmware.stacks import Firmwares, drawn
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM_GCC, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV_GCC

M4 = "mps2_an386"
CORES = measured.load(measured.STACK_BYTES).cores
COLUMNS = [(tables.board(core).name, toolchain) for core in CORES for toolchain in TOOLCHAINS]
# The number of modules in every run, 60 in total. Programs of LLVM take twice as long to build, so
# every second board has them. The slow test has as many for each column.
FEW = {column: 5 for column in COLUMNS if column[1] == "gcc"}
FEW |= dict.fromkeys([column for column in COLUMNS if column[1] == "llvm"][::2], 2)
FIRST = dict(zip(FEW, accumulate(FEW.values(), initial=0), strict=False))


def _check(board: str, toolchain: str, seeds: range, folder: Path) -> None:
    made = Firmwares(board, toolchain, folder)
    for seed in seeds:
        try:
            found, estimate = made.stack(drawn(seed))
        except CapacityError:
            continue
        assert found <= estimate.stack_bound, f"seed {seed}"


@NEEDS_ARM_GCC
@NEEDS_RISCV_GCC
@NEEDS_LLVM
@pytest.mark.parametrize(("board", "toolchain"), FEW)
def test_random_modules_take_no_more_stack_than_expected(
    board: str, toolchain: str, tmp_path: Path
) -> None:
    first = FIRST[board, toolchain]
    _check(board, toolchain, range(first, first + FEW[board, toolchain]), tmp_path)


@pytest.mark.slow
@NEEDS_ARM_GCC
@NEEDS_RISCV_GCC
@NEEDS_LLVM
@pytest.mark.parametrize("first", range(1000, 3000, 250))
@pytest.mark.parametrize(("board", "toolchain"), COLUMNS)
def test_two_thousand_random_modules_take_no_more_stack_than_expected(
    board: str, toolchain: str, first: int, tmp_path: Path
) -> None:
    _check(board, toolchain, range(first, first + 250), tmp_path)


@NEEDS_ARM_GCC
def test_outputs_that_later_steps_read_take_registers(tmp_path: Path) -> None:
    """The runner keeps a pointer to each input and output that a later call reads or writes."""
    x, y = (relay.var(name, shape=(3,), dtype="float32") for name in "xy")
    live = [relay.add(x, y)]
    for operand in (x, y, x):
        live.append(relay.subtract(live[-1], operand))
    module = IRModule.from_expr(Function([x, y], relay.Tuple(live[::-1])))
    found, estimate = Firmwares(M4, "gcc", tmp_path).stack(module)
    assert found <= estimate.stack_bound


def _configured(project: Path, *settings: str) -> None:
    command = ["cmake", "-S", project, "-B", project / "build", "-G", "Ninja", *settings]
    subprocess.run(command, check=True, capture_output=True)


def _elf(project: Path) -> bytes:
    return (project / "build" / "firmware.elf").read_bytes()


O0 = "-DMICROGEN_MODEL_OPTIMIZATION=-O0"


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_a_build_reserves_what_the_code_takes(tmp_path: Path) -> None:
    """Code without optimization takes thousands of bytes more than expected."""
    project = tmp_path / "p"
    record = microgen.generate(SMALL, M4, project).manifest
    files = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    _configured(project, O0)
    microgen.build(project)
    needed = verifier.stack_bound(project).nbytes + 512
    assert needed > record.board["stack_bytes"] + 1000
    report = microgen.verify(project, reproduce=True)
    assert report.ok, report.failed
    assert report.sizes.stack == -(-needed // 16) * 16
    assert report.check("stack").values["reserve"] == report.sizes.stack
    assert {path: path.read_bytes() for path in files} == files
    first = _elf(project)
    microgen.build(project)
    assert _elf(project) == first


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_code_that_takes_less_again_gets_less(tmp_path: Path) -> None:
    project = tmp_path / "p"
    record = microgen.generate(SMALL, M4, project, stack_margin=0).manifest
    _configured(project, O0)
    microgen.build(project)
    _configured(project, "-DMICROGEN_MODEL_OPTIMIZATION=-O2")
    microgen.build(project)
    assert microgen.verify(project).sizes.stack == record.board["stack_bytes"]


@NEEDS_NINJA
@NEEDS_ARM_GCC
@NEEDS_LLVM
@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_cmake_alone_reserves_enough_with_other_flags(toolchain: str, tmp_path: Path) -> None:
    """It adds up the stack of functions, and does not compile or link again without a reason."""
    project = tmp_path / "p"
    record = microgen.generate(SMALL, M4, project, toolchain=toolchain).manifest
    _configured(project, O0)
    build = ("ninja", "-C", str(project / "build"))
    subprocess.run(build, check=True, capture_output=True)
    report = microgen.verify(project)
    assert report.ok, report.failed
    assert report.check("stack").values["bound"] > record.estimate.stack_bound
    again = subprocess.run(build, check=True, capture_output=True, text=True)
    assert "no work to do" in again.stdout


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_a_stack_that_is_too_small_fails(tmp_path: Path) -> None:
    """CMake is told how much to reserve, and believes it."""
    project = tmp_path / "p"
    record = microgen.generate(SMALL, M4, project).manifest
    nbytes = record.board["stack_bytes"]
    _configured(project, O0, f"-DMICROGEN_STACK={nbytes}")
    subprocess.run(("ninja", "-C", project / "build"), check=True, capture_output=True)
    needed = -(-(verifier.stack_bound(project).nbytes + 512) // 16) * 16
    check = microgen.verify(project).check("stack")
    assert check.status == "failed"
    assert f"`microgen build` reserves it, and CMake with -DMICROGEN_STACK={needed}" in check.found
    _configured(project, f"-DMICROGEN_STACK={needed}")
    subprocess.run(("ninja", "-C", project / "build"), check=True, capture_output=True)
    assert microgen.verify(project).check("stack").status == "ok"


@NEEDS_NINJA
@NEEDS_ARM_GCC
def test_a_stack_that_the_user_chose_is_kept(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, M4, project, stack=1024)
    _configured(project, O0)
    microgen.build(project)
    report = microgen.verify(project)
    assert (report.check("stack").status, report.sizes.stack) == ("failed", 1024)
