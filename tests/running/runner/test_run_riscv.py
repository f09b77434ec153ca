"""The stand-in firmware for RISC-V under QEMU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import RunError
from microgen.running.runner import run
from tests.support.tools import NEEDS_CC, NEEDS_RISCV

Project = Callable[..., Path]

BOARD = "qemu_riscv32"
INPUT = np.arange(24, dtype=np.int8).reshape(3, 2, 4)

pytestmark = NEEDS_RISCV


def test_outputs_and_layers_are_the_models(project: Project) -> None:
    result = run(project(BOARD), {"serving/x:0": INPUT}, trace=True)
    np.testing.assert_array_equal(result.outputs["serving/y:0"], INPUT * np.int8(8))
    assert result.layers is not None
    assert len(result.layers) == 12
    for layer in result.layers:
        factor = (2, 4, 4, 8)[layer.call]
        np.testing.assert_array_equal(layer.array, INPUT[layer.sample] * np.int8(factor))


@NEEDS_CC
def test_counts_equal_the_hand_count(project: Project) -> None:
    # firmware/riscv_network.s states the number of instructions of each function.
    calls = (59, 59, 57, 75)
    runner, between_the_timers = 22, 5
    result = run(project(BOARD), {"input0": INPUT}, profile=True)
    assert result.per_call == (calls, calls, calls)
    assert result.instructions == (sum(calls) + runner + between_the_timers,) * 3
    # SiFive FE310-G000 Manual, section 3.3: an instruction that uses the byte just
    # loaded waits for two cycles.
    assert result.modelled is not None
    for (costs,) in result.modelled.rows:
        assert [cost.cycles for cost in costs[1:]] == [n + 8 * 2 for n in calls]


@pytest.mark.parametrize("trace", [False, True])
def test_a_trap_is_reported_with_its_cause_and_place(project: Project, trace: bool) -> None:
    message = (
        r"ended in an IllegalInstruction: an undefined instruction; pc 0x\w+ in "
        r"tvmgen_default_fused_sum, called from 0x\w+ in tvmgen_default___tvm_main__"
    )
    with pytest.raises(RunError, match=message):
        run(project(BOARD, "FAULT"), trace=trace)


def test_a_hang_is_bounded_and_names_the_function(project: Project) -> None:
    message = r"no progress for 0\.5 s, after 0 of 3 samples, at 0x\w+ in tvmgen_default_fused_sum"
    with pytest.raises(RunError, match=message):
        run(project(BOARD, "HANG"), {"input0": INPUT}, timeout=0.5)


def test_an_error_code_is_reported_with_its_sample(project: Project) -> None:
    with pytest.raises(RunError, match="returned error code 7 at sample 0"):
        run(project(BOARD, "FAIL"), {"input0": INPUT})
