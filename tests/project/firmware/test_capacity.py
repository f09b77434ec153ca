"""Bounds of RAM and flash: what is refused, what is doubtful, and what firmware measures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import microgen
from microgen import kernels, verifier
from microgen.base import manifest
from microgen.base.errors import CapacityError
from microgen.interface import cli
from microgen.kernels import measured
from microgen.planner.program.steps import InRows
from microgen.project.firmware import capacity
from microgen.target.cpu import CPUS
from tests.support.minimal_project import BUILT_HERE
from tests.support.places import DIGITS, SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV

HOW = {
    "c": {},
    "packed": {"interface": "packed"},
    "graph": {"executor": "graph"},
    "shared": {"optimize": "flash"},
}


def _estimate(model: Path, board: str, **options: object) -> manifest.EstimateRecord:
    return microgen.compile_model(model, board, **options).manifest.estimate


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedules do not depend on budgets."""
    monkeypatch.setattr(capacity, "buffers_limit", lambda _board, _options, _modules=1: sys.maxsize)


@pytest.mark.usefixtures("fixed")
def test_a_budget_between_the_bounds_is_left_to_verify() -> None:
    free = _estimate(SMALL, "mps2_an386")
    ram = (free.ram_least + free.ram_most) // 2
    flash = (free.flash_least + free.flash_most) // 2
    made = microgen.compile_model(SMALL, "mps2_an386", ram=ram, flash=flash)
    found = made.manifest.estimate
    assert found.ram_least <= ram < found.ram_most
    assert found.flash_least <= flash < found.flash_most
    assert made.doubts == (
        f"may not fit: it needs {found.ram_least:,} to {found.ram_most:,} bytes of RAM, and "
        f"the --ram budget is {ram:,}",
        f"may not fit: it needs {found.flash_least:,} to {found.flash_most:,} bytes of "
        f"flash, and the --flash budget is {flash:,}",
    )


@pytest.mark.usefixtures("fixed")
def test_a_budget_above_the_bounds_raises_no_doubt() -> None:
    found = _estimate(SMALL, "mps2_an386")
    options = {"ram": found.ram_most, "flash": found.flash_most}
    assert microgen.compile_model(SMALL, "mps2_an386", **options).doubts == ()


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize("kind", ["ram", "flash"])
def test_only_what_is_below_the_lower_bound_is_refused(kind: str) -> None:
    found = _estimate(SMALL, "mps2_an386")
    least = getattr(found, f"{kind}_least")
    assert microgen.compile_model(SMALL, "mps2_an386", **{kind: least}).doubts
    with pytest.raises(CapacityError) as error:
        microgen.compile_model(SMALL, "mps2_an386", **{kind: least - 1})
    text = str(error.value)
    assert f"needs at least {least:,} bytes of " in text
    assert f"the --{kind} budget is {least - 1:,} (1 too many); largest: " in text
    assert "use " in text
    assert len(text) <= 300


def test_a_budget_of_ram_gets_the_fastest_schedule_that_fits() -> None:
    usual = microgen.compile_model(DIGITS, "mps2_an386", stack=4096)
    needed = usual.manifest.estimate.ram_most
    small = microgen.compile_model(DIGITS, "mps2_an386", stack=4096, ram=needed - 300)
    assert small.doubts == ()
    assert small.plan.peak < usual.plan.peak
    steps = [step for call in small.program.calls for step in call.steps]
    assert any(isinstance(step.place, InRows) for step in steps)
    with pytest.raises(CapacityError) as error:
        microgen.compile_model(DIGITS, "mps2_an386", stack=4096, ram=4500)
    missing = int(str(error.value).split("needs at least ")[1].split()[0].replace(",", ""))
    assert 4500 < missing < small.manifest.estimate.ram_least + 1, "the least of all schedules"


@pytest.mark.usefixtures("fixed")
def test_a_doubt_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "p")
    least = _estimate(SMALL, "mps2_an386").ram_least
    options = ["-b", "mps2_an386", "--ram", str(least)]
    assert cli.main(["generate", str(SMALL), "-o", out, *options, "--json"]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert data["estimate"]["ram_least"] == least
    assert len(data["may_not_fit"]) == 1
    assert (
        f"{data['may_not_fit'][0]}; to measure it, build, then run `microgen verify {out}`"
        in shown.err
    )


def test_every_kernel_is_measured_for_every_core() -> None:
    entries = [kernel for found in kernels.registry().values() for kernel in found]
    stems = {kernel.code.stem for kernel in entries}
    """Except for cores that the measuring machine's compilers do not know."""
    cores = {cpu.name for cpu in CPUS.values() if cpu.architecture != "host" and not cpu.since}
    table = measured.load(measured.CODE_BYTES)
    assert set(table.cores) == cores, "run scripts/measure.py --missing"
    missing = {
        kernel
        for core in cores
        for tool in ("gcc", "llvm")
        for kernel in stems ^ table.column(core, tool).keys()
    }
    assert not missing, "run scripts/measure.py --missing"
    for core in cores:
        helpers = table.column(core, "helpers")
        assert helpers.keys() == {"all", "integer"}
        # Every core lacks at least the division of 64-bit integers.
        assert 0 < helpers["integer"] <= helpers["all"], core


def _firmware() -> list[object]:
    usual = {("mps2_an386", "gcc", "c")}
    return [
        pytest.param(
            *case,
            id="-".join(case),
            marks=[] if case in usual else [pytest.mark.slow, NEEDS_RISCV, NEEDS_LLVM],
        )
        for board in BUILT_HERE
        for toolchain in ("gcc", "llvm")
        for how in HOW
        if board != "native" and (board, how) != ("stm32vldiscovery", "graph")  # needs more RAM
        for case in [(board, toolchain, how)]
    ]


@NEEDS_NINJA
@NEEDS_ARM
def test_functions_with_rows_are_in_the_estimate_of_flash(tmp_path: Path) -> None:
    microgen.generate(DIGITS, "mps2_an386", tmp_path / "p", optimize="ram")
    microgen.build(tmp_path / "p")
    record = manifest.load(tmp_path / "p")
    sizes = verifier.measure(tmp_path / "p" / "build" / "firmware.elf", record)
    assert any(len(call.steps) > 2 for call in record.calls)
    assert sizes.flash <= record.estimate.flash <= 1.1 * sizes.flash


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.parametrize(("board", "toolchain", "how"), _firmware())
def test_the_firmware_lies_between_its_bounds(
    board: str, toolchain: str, how: str, tmp_path: Path
) -> None:
    microgen.generate(DIGITS, board, tmp_path / "p", toolchain=toolchain, **HOW[how])
    microgen.build(tmp_path / "p")
    record = manifest.load(tmp_path / "p")
    sizes = verifier.measure(tmp_path / "p" / "build" / "firmware.elf", record)
    found = record.estimate
    assert found.flash_least <= sizes.flash <= found.flash_most
    if toolchain == "gcc":  # the costs of kernels are GCC's
        assert sizes.flash <= found.flash
    assert found.ram_least <= sizes.ram <= found.ram_most
