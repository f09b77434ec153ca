"""Firmware that gets its input a few rows at a time, on emulated cores: every layer equals the
references, verify proves it, and profiles count it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import microgen
from microgen.base import manifest
from microgen.building import builder
from microgen.running.comparing import compare, stimuli
from microgen.running.runner.job import JobResult
from tests.qemu.broken import broken
from tests.support.places import DIGITS, SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_LLVM, NEEDS_NINJA, NEEDS_RISCV

pytestmark = NEEDS_NINJA
HEIGHT = 8  # of an image of the digits
SOURCES = "model/codegen/host/src"


def _checked(project: Path, **options: Any) -> JobResult:
    """The run of a project, every layer of which equals the references."""
    found = microgen.run(project, compare=True, **options)
    assert found.checks.ok, found.checks.to_text()
    for verdict in found.verdicts:
        assert verdict.ok or verdict.is_skipped, str(verdict)
        assert verdict.is_skipped or (verdict.layers and not verdict.layers.unseen)
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "rows", "options"),
    [
        pytest.param("mps2_an386", 1, {"optimize": "ram"}, marks=NEEDS_ARM),
        pytest.param("mps3_an547", 3, {"optimize": "speed"}, marks=NEEDS_ARM),
        pytest.param("microbit", HEIGHT, {}, marks=NEEDS_ARM),
        pytest.param("mps3_an547", 2, {"toolchain": "llvm"}, marks=[NEEDS_ARM, NEEDS_LLVM]),
        pytest.param("qemu_riscv32", 2, {"optimize": "flash"}, marks=NEEDS_RISCV),
    ],
)
def test_fed_firmware_is_exact_and_proven(
    board: str, rows: int, options: dict[str, str], tmp_path: Path
) -> None:
    made = microgen.generate(DIGITS, board, tmp_path / "p", input_rows=rows, **options).manifest
    found = _checked(tmp_path / "p", profile=True)
    feed = made.feed
    assert feed is not None
    assert (feed.rows, feed.nbytes, feed.count) == (rows, 8 * rows, -(-HEIGHT // rows))
    assert made.plan.io_bytes == feed.nbytes + made.outputs[0].nbytes
    assert found.checks.check("run_symbol").found.startswith("tvmgen_default_feed")
    # One count for each call, though the first is called once for each feeding.
    assert found.per_call is not None
    assert found.instructions is not None
    for calls, whole in zip(found.per_call, found.instructions, strict=True):
        assert len(calls) == len(made.calls)
        assert 0.9 * whole < sum(calls) <= whole


@NEEDS_ARM
def test_a_layer_that_reads_the_wrong_rows_is_named(tmp_path: Path) -> None:
    made = microgen.generate(SMALL, "mps2_an386", tmp_path / "p", input_rows=2).manifest
    operators = tmp_path / "p" / SOURCES / "default_lib1.c"
    text = operators.read_text()
    assert text.count("(step - first)") == 1
    operators.write_text(text.replace("(step - first)", "(step - first + 1)"))
    elf = builder.build(tmp_path / "p").elf
    inputs = stimuli.samples(made.inputs, random=1)
    outputs = microgen.running.runner.run(tmp_path / "p", inputs, elf=elf).outputs
    verdicts = compare.compare(tmp_path / "p", inputs, outputs, elf)
    found = [verdict.difference for verdict in verdicts if verdict.difference]
    assert found
    assert {one.layer for one in found} == {made.calls[0].layers[0]}


@NEEDS_ARM
def test_an_entry_that_passes_other_rows_is_noticed(tmp_path: Path) -> None:
    sound = tmp_path / "sound"
    microgen.generate(SMALL, "mps2_an386", sound, input_rows=2)

    def shift(project: Path) -> None:
        runner = project / SOURCES / "default_lib0.c"
        text = runner.read_text()
        assert text.count("___tvm_main__(rows, ") == 1
        changed = text.replace("___tvm_main__(rows, ", "___tvm_main__((const int8_t *)rows + 1, ")
        runner.write_text(changed)

    broken.check(shift, {"runner"}, sound)


@NEEDS_ARM
def test_two_fed_models_are_in_one_firmware(tmp_path: Path) -> None:
    pairs = [(SMALL, name) for name in ("one", "other")]
    microgen.generate_models(pairs, "mps2_an386", tmp_path / "p", input_rows=3, optimize="ram")
    assert [m.feed is not None for m in manifest.load(tmp_path / "p").modules] == [True, True]
    found = _checked(tmp_path / "p", profile=True)
    assert found.per_module is not None
    assert len(found.per_module[0]) == 2


LARGE = ("vww_96_int8.tflite", "pretrainedResnet_quant.tflite")
LITTLE = {"optimize": "ram", "input_rows": 1}


@pytest.mark.parametrize("file", [pytest.param(LARGE[0], marks=pytest.mark.slow), *LARGE[1:]])
def test_large_networks_need_little_ram(file: str, mlperf_models: Path) -> None:
    made = microgen.compile_model(mlperf_models / file, "mps2_an386", **LITTLE).manifest
    assert made.plan.peak + made.plan.io_bytes <= 20_000


@pytest.mark.slow
@NEEDS_ARM
@pytest.mark.parametrize("file", LARGE)
def test_large_networks_are_exact_in_little_ram(
    file: str, mlperf_models: Path, tmp_path: Path
) -> None:
    microgen.generate(mlperf_models / file, "mps2_an386", tmp_path / "p", **LITTLE)
    _checked(tmp_path / "p")
