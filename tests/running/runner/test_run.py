"""The stand-in firmware under QEMU and on the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen.base.errors import InputError, ProjectError, RunError, ToolError
from microgen.base.manifest import ArgumentRecord
from microgen.running.runner import JobResult, execute, image, process, qemu, run, trace
from microgen.running.runner import job as jobs
from microgen.target import board as boards
from tests.running.runner import standin
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_GDBSERVER

Project = Callable[..., Path]

ARM = "mps2_an386"
INPUT = np.arange(24, dtype=np.int8).reshape(3, 2, 4)
DOUBLED, OUTPUT = (INPUT * np.int8(2)), (INPUT * np.int8(8))

both_boards = pytest.mark.parametrize(
    "board", [pytest.param(ARM, marks=NEEDS_ARM), pytest.param("native", marks=NEEDS_CC)]
)


@both_boards
def test_outputs_have_the_models_name_and_the_inputs_leading_axis(
    project: Project, board: str
) -> None:
    result = run(project(board), {"serving/x:0": INPUT})
    assert list(result.outputs) == ["serving/y:0"]
    np.testing.assert_array_equal(result.outputs["serving/y:0"], OUTPUT)
    assert (result.status, result.samples, result.stack) == (0, 3, 96)
    assert result.console == "microgen: status=0 samples=3 stack=96\n"
    assert (result.instructions, result.per_call, result.layers) == (None, None, None)


@both_boards
def test_one_sample_without_a_leading_axis_gives_an_output_without_one(
    project: Project, board: str
) -> None:
    result = run(project(board), {"input0": INPUT[1]})
    np.testing.assert_array_equal(result.outputs["serving/y:0"], OUTPUT[1])


@both_boards
def test_without_inputs_one_inference_runs_and_nothing_is_written(
    project: Project, board: str
) -> None:
    result = run(project(board))
    assert (result.outputs, result.samples) == ({}, 1)


@NEEDS_ARM
@NEEDS_CC
def test_counts_equal_the_hand_count_in_every_run(project: Project) -> None:
    # firmware/arm_network.s states the number of instructions of each function.
    calls = (43, 43, 39, 57)
    runner, between_the_timers = 17, 5
    for _ in range(3):
        result = run(project(ARM), {"input0": INPUT}, profile=True)
        assert result.per_call == (calls, calls, calls)
        assert result.instructions == (sum(calls) + runner + between_the_timers,) * 3
        np.testing.assert_array_equal(result.outputs["serving/y:0"], OUTPUT)


@NEEDS_ARM
@NEEDS_CC
def test_modelled_cycles_equal_the_hand_count(project: Project) -> None:
    """DDI 0439D, table 3-1 and section 3.3, on the instructions of firmware/arm_network.s."""
    split = 1  # the loops' first instruction has 32 bits and is not at a multiple of four
    doubling = 1 + 8 * (2 + 1 + 1 + 1 + 1) + 7 * (1 + split) + 1 + 3
    helper = 1 + 8 * (2 + 0 + 1 + 1) + 8 + 7 * (1 + split) + 3  # the store is buffered: one cycle
    copying = 3 + 1 + 2 + helper + 1 + 5
    # The load's address was computed just before it; the store's offset is a register.
    adding = 8 * (1 + 3 + 1 + 1 + 2 + 1) + 7 * 2 + 1 + 1 + 3
    modelled = run(project(ARM), {"input0": INPUT[:1]}, profile=True).modelled
    assert modelled is not None
    ((costs,),) = modelled.rows
    assert [cost.cycles for cost in costs[1:]] == [doubling, doubling, copying, adding]
    runner = modelled.outside_calls(costs)
    # Pushes, loads a literal, computes addresses, calls four times, pops; then the timers' five.
    assert runner.cycles == 5 + 1 + 2 + 9 + 4 * 2 + 7 + (3 + 2 + 2)
    assert [cost.flash_bytes for cost in costs] == [4, 0, 0, 0, 0]  # the literal
    assert (modelled.conditions.clock_hz, modelled.conditions.milliseconds(1000)) == (0, None)


@NEEDS_ARM
@NEEDS_CC
def test_a_flash_with_wait_states_is_waited_for(project: Project) -> None:
    made = project(ARM)
    job = jobs.of(made, {"input0": INPUT[:1]}, made / execute.ELF, 60.0)
    slow = replace(job, board=replace(job.board, flash_wait_states=5, clock_hz=10**6))
    fast, waiting = (execute._profiled(each) for each in (job, slow))
    assert fast.modelled is not None
    assert waiting.modelled is not None
    ((without,),), ((costs,),) = fast.modelled.rows, waiting.modelled.rows
    waits = [c.cycles - w.cycles for c, w in zip(costs, without, strict=True)]
    # Lines of 8 bytes: 5 cycles after a jump, 3 for a next line. They are kept for the second call.
    start, end = job.image.extent("tvmgen_default_fused_double")
    lines = len(range(start // 8, (end - 1) // 8 + 1))
    assert waits[1:3] == [5 + 3 * (lines - 1), 0]
    assert all(wait > 0 for wait in waits[3:])
    assert waiting.modelled.conditions.milliseconds(costs[0].cycles) == costs[0].cycles / 1000


@NEEDS_CC
def test_native_says_that_it_cannot_count(project: Project) -> None:
    with pytest.raises(ToolError, match="counted by an emulator, and board native has none"):
        run(project("native"), profile=True)


def check_layers(result: JobResult, samples: int) -> None:
    layers = result.layers
    assert layers is not None
    assert [(layer.sample, layer.call) for layer in layers] == [
        (sample, call) for sample in range(samples) for call in range(4)
    ]
    for layer in layers:
        factor = (2, 4, 4, 8)[layer.call]
        assert layer.tensor == f"layer{layer.call}"
        np.testing.assert_array_equal(layer.array, INPUT[layer.sample] * np.int8(factor))


@NEEDS_ARM
def test_layers_are_read_before_their_buffer_is_reused(project: Project) -> None:
    # sid_0 (call 0) and sid_2 (call 2) are the same eight bytes.
    check_layers(run(project(ARM), {"input0": INPUT}, trace=True), 3)


@NEEDS_GDBSERVER
def test_layers_are_read_on_the_host(project: Project) -> None:
    check_layers(run(project("native"), {"input0": INPUT}, trace=True), 3)


@NEEDS_ARM
def test_counts_and_layers_can_be_had_together(project: Project) -> None:
    result = run(project(ARM), {"input0": INPUT[:1]}, profile=True, trace=True)
    assert result.instructions == (204,)
    check_layers(result, 1)


@NEEDS_ARM
def test_a_hang_is_bounded_and_names_the_function(project: Project) -> None:
    message = (
        r"no progress for 0\.5 s, after 0 of 3 samples, "
        r"at 0x[0-9a-f]+ in tvmgen_default_fused_sum; .*more time"
    )
    with pytest.raises(RunError, match=message):
        run(project(ARM, "HANG"), {"input0": INPUT}, timeout=0.5)


@NEEDS_CC
def test_a_hang_on_the_host_is_bounded(project: Project) -> None:
    with pytest.raises(RunError, match=r"no progress for 0\.5 s, after 0 of 3 samples; "):
        run(project("native", "HANG"), {"input0": INPUT}, timeout=0.5)


@NEEDS_ARM
def test_a_hang_under_the_debugger_is_bounded_and_names_the_function(
    project: Project, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match=r"after 3 of 4 layers, at 0x\w+ in \w+_fused_sum"):
        _follow(project(ARM, "HANG"), tmp_path)


def _follow(project: Path, where: Path) -> trace.Followed[trace.TracedLayer]:
    program = image.load(project / "build" / "firmware.elf")
    command = qemu.command(boards.load(ARM), program.path, halted=True)
    with process.started(command, where, gdb=True) as running:
        halted = trace.HaltedProgram(running.gdb, program, standin.manifest(ARM), False, 0.5)
        return trace.follow(halted, samples=1)


@NEEDS_ARM
def test_a_fault_under_the_debugger_keeps_the_layers_before_it(
    project: Project, tmp_path: Path
) -> None:
    traced = _follow(project(ARM, "FAULT"), tmp_path)
    assert (len(traced.items), traced.exit_code) == (3, 3)


@NEEDS_ARM
@pytest.mark.parametrize("profile", [False, True])
def test_a_fault_is_reported_with_its_cause_and_place(project: Project, profile: bool) -> None:
    message = (
        r"ended in a HardFault: an undefined instruction; pc 0x\w+ in tvmgen_default_fused_sum, "
        r"called from 0x\w+ in tvmgen_default___tvm_main__"
    )
    with pytest.raises(RunError, match=message):
        run(project(ARM, "FAULT"), profile=profile)


@NEEDS_ARM
def test_a_locked_up_core_is_reported_with_its_place(project: Project) -> None:
    with pytest.raises(RunError, match=r"core locked up .* at 0x\w+ in report_fault"):
        run(project(ARM, "LOCKUP"))


@NEEDS_CC
def test_a_crash_on_the_host_names_the_signal(project: Project) -> None:
    with pytest.raises(RunError, match=r"the program was ended by SIG(ILL|TRAP)"):
        run(project("native", "CRASH"))


@NEEDS_ARM
def test_an_error_code_is_reported_with_its_sample(project: Project) -> None:
    with pytest.raises(RunError, match="returned error code 7 at sample 0"):
        run(project(ARM, "FAIL"), {"input0": INPUT})


@NEEDS_ARM
def test_an_operator_that_writes_elsewhere_than_planned_is_found(
    project: Project, tmp_path: Path
) -> None:
    source, planned = project(ARM), standin.manifest(ARM)
    call = planned.calls[2]
    moved = replace(call, args=(call.args[0], ArgumentRecord("sid", "sid_1")))
    manifest = replace(planned, calls=(*planned.calls[:2], moved, planned.calls[3]))
    (tmp_path / "microgen.json").write_bytes(manifest.dumps())
    with pytest.raises(RunError, match=r'call 2, .*_copy \(layer "model/copy2"\) writes to 0x'):
        run(tmp_path, elf=source / "build" / "firmware.elf", trace=True)


@NEEDS_CC
def test_wrong_inputs_are_refused_before_anything_runs(project: Project) -> None:
    with pytest.raises(InputError, match="expected \\[2, 4\\]"):
        run(project("native"), {"input0": INPUT[0].T})


def test_a_project_that_is_not_built_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "microgen.json").write_bytes(standin.manifest("native").dumps())
    with pytest.raises(ProjectError, match="run `microgen build DIR` first"):
        run(tmp_path)


@NEEDS_ARM
def test_a_missing_emulator_is_named_with_its_package(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = project(ARM)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="qemu-system-arm is not installed; apt-get install"):
        run(folder)


@NEEDS_CC
def test_a_missing_gdbserver_is_named_with_its_package(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = project("native")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"needs gdbserver, .*; apt-get install gdbserver"):
        run(folder, trace=True)
