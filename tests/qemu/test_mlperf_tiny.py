"""MLPerf Tiny's networks, int8 and float32, end to end, on a large board of every kind of core.
tests/target/test_every_board.py has the other boards."""

from __future__ import annotations

import functools
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen import frontends, verifier
from microgen.base import manifest
from microgen.base.manifest import PortRecord
from microgen.frontends.tflite.litert import LiteRT
from microgen.graph.ir.graph import Array
from microgen.running.comparing import stimuli
from tests.kernels.conformance.within import far
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA

# Limits in bytes: the best peer's RAM with input and output, and a third of the careful TensorFlow
# Lite Micro user's code on Cortex-M4 and M55 (docs/benchmarks.md).
ARENA = {"kws": 17_654, "vww": 82_946, "resnet": 52_810, "ad": 2_048, "strww": 9_139}
CODE_M4 = {"kws": 52_900, "vww": 52_900, "resnet": 50_704, "ad": 27_548, "strww": 50_332}
CODE_M55 = {"kws": 44_204, "vww": 44_204, "resnet": 40_956, "ad": 19_508, "strww": 41_060}
FILES = {
    "kws": "kws_ref_model.tflite",
    "vww": "vww_96_int8.tflite",
    "resnet": "pretrainedResnet_quant.tflite",
    "ad": "ad01_int8.tflite",
    "strww": "str_ww_ref_model.tflite",
}
FLOAT_FILES = {
    "kws_hybrid": "kws_ref_model_float32.tflite",  # float32 with int8 weights
    "ad_fp32": "ad01_fp32.tflite",
    "resnet_fp32": "pretrainedResnet.tflite",
    "vww_fp32": "vww_96_float.tflite",
}
ALL_FILES = {**FILES, **FLOAT_FILES}
LARGE_BOARDS = (
    *("mps2_an385", "mps2_an386", "mps2_an500", "mps2_an505", "mps3_an547"),
    *("qemu_riscv32", "native"),
)
SMALL_BOARDS = {
    "microbit": ("kws", "strww"),
    "qemu_cortex_m3": ("kws", "vww", "resnet", "strww"),  # vww in rows
    "stm32vldiscovery": ("kws", "strww"),  # in rows
}
HELD = {
    **dict.fromkeys(LARGE_BOARDS, tuple(ALL_FILES)),
    **SMALL_BOARDS,
}
# Run in every run of the tests: int8 networks with DSP and with MVE, each kind of core, and
# networks of floats. The others are slow. vww takes longest, and has the layers of kws and resnet.
_USUAL = {
    *(("strww", "mps2_an385"), ("strww", "microbit"), ("strww", "qemu_riscv32")),
    *(("resnet", "mps2_an386"), ("kws_hybrid", "mps2_an386")),
    *(("kws", "mps3_an547"), ("ad", "mps3_an547"), ("ad_fp32", "mps3_an547")),
}

CASES = [
    pytest.param(model, board, marks=() if (model, board) in _USUAL else pytest.mark.slow)
    for board, models in HELD.items()
    for model in models
]
RANDOM = 20  # in addition to the five structured samples
RANDOM_FLOAT = 3
# Boards whose kernels run on another board, too, for which fewer samples show the same; and two
# that QEMU emulates slowly, for which all samples are run in a slow test.
_FEWER = {"mps2_an385": 8, "mps2_an386": 10, "mps2_an500": 8, "mps3_an547": 8}


@dataclass(frozen=True)
class Expected:
    """LiteRT's outputs for 25 samples of a model, or for 8 samples of a float32 model."""

    inputs: dict[str, Array]
    outputs: list[dict[str, Array]]


def _inputs(model: Path) -> list[PortRecord]:
    """The model's inputs as a manifest has them, without compiling the model."""
    graph, ports = frontends.load(model), []
    for name in graph.inputs:
        kind = graph.types[name]
        scale, zero = (kind.quant.scale[0], kind.quant.zero_point[0]) if kind.quant else (0.0, 0)
        ports.append(PortRecord(name, name, kind.shape, kind.dtype.value, kind.nbytes, scale, zero))
    return ports


@functools.cache
def expected(name: str, models: Path) -> Expected:
    path = models / ALL_FILES[name]
    random = RANDOM_FLOAT if name in FLOAT_FILES else RANDOM
    inputs = stimuli.samples(_inputs(path), random=random)
    samples = [list(arrays) for arrays in zip(*inputs.values(), strict=True)]
    return Expected(inputs, list(LiteRT().layers(frontends.files(path), samples)))


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.skipif(bool(LiteRT().lacking()), reason="ai-edge-litert is not installed")
@pytest.mark.parametrize(("model", "board"), CASES, ids=lambda value: value)
def test_every_output_equals_litert(
    model: str, board: str, mlperf_models: Path, tmp_path: Path
) -> None:
    _check(model, board, mlperf_models, tmp_path / "p", _FEWER.get(board))


@NEEDS_NINJA
@NEEDS_ARM
@pytest.mark.slow
@pytest.mark.skipif(bool(LiteRT().lacking()), reason="ai-edge-litert is not installed")
@pytest.mark.parametrize("board", ["mps2_an386", "mps3_an547"])
@pytest.mark.parametrize("model", FILES)
def test_every_output_of_all_samples_equals_litert_with_dsp_and_mve(
    model: str, board: str, mlperf_models: Path, tmp_path: Path
) -> None:
    _check(model, board, mlperf_models, tmp_path / "p", None)


def _check(model: str, board: str, models: Path, project: Path, count: int | None) -> None:
    """Compares the outputs for the first ``count`` samples, or all, and the firmware's sizes."""
    made = microgen.generate(models / ALL_FILES[model], board, project).manifest
    kernels = {step.kernel for call in made.calls for step in call.steps}
    roundings = 2 if any(kernel.endswith("_mla") for kernel in kernels) else 1
    microgen.build(project)
    wanted = expected(model, models)
    inputs = {name: arrays[:count] for name, arrays in wanted.inputs.items()}
    result = microgen.run(project, inputs)  # verifies before it runs
    for name, found in result.outputs.items():
        for sample, layers in zip(found, wanted.outputs[:count], strict=True):
            assert not far(sample, layers[name], roundings)
    if board != "native":
        assert result.checks.check("stack").values["used"] == result.stack
        _check_sizes(model, board, project)
    shutil.rmtree(project)


def _check_sizes(model: str, board: str, project: Path) -> None:
    record = manifest.load(project)
    if model in FILES:
        assert record.plan.peak + record.plan.io_bytes <= ARENA[model]
    # Buffers that overlap with a lag are tied to each other, which may leave gaps.
    assert record.plan.lower_bound <= record.plan.peak <= 1.05 * record.plan.lower_bound
    sizes = verifier.measure(project / "build" / "firmware.elf", record)
    estimate = record.estimate
    assert estimate.ram_least <= sizes.ram <= estimate.ram_most
    assert estimate.flash_least <= sizes.flash <= estimate.flash_most
    assert abs(record.estimate.ram - sizes.ram) <= 0.05 * sizes.ram
    # What operators have in common is not estimated one by one, and vww has few constants.
    assert abs(record.estimate.flash - sizes.flash) <= 0.12 * sizes.flash
    limits = {"mps2_an386": CODE_M4, "mps3_an547": CODE_M55}
    if board in limits and model in FILES:
        assert sizes.code < limits[board][model] / 3


@NEEDS_NINJA
@pytest.mark.sampled(1)
@pytest.mark.parametrize("model", FILES)
def test_outputs_equal_tensorflow_lite_micro_with_its_numerics(
    model: str, mlperf_models: Path, tmp_path: Path
) -> None:
    golden = mlperf_models.parent / "reference" / "tflm_golden.npz"
    if not golden.is_file():
        pytest.skip(f"there is no {golden}: it is kept next to the MLPerf Tiny models")
    stem = FILES[model].removesuffix(".tflite")
    with np.load(golden) as arrays:
        given, wanted = arrays[f"{stem}.input0"], arrays[f"{stem}.output0"]
    done = microgen.generate(
        mlperf_models / FILES[model], "native", tmp_path / "p", numerics="tflm"
    )
    (port,) = done.manifest.inputs
    result = microgen.run(tmp_path / "p", {port.tensor: given.reshape(port.shape)})
    (found,) = result.outputs.values()
    assert np.array_equal(found.reshape(-1), wanted)


# Each board, and networks that fit and that do not. Networks of floats need more than those of
# int8 with the same layers. That strww fits the microbit is shown above.
_USUAL_SMALL = {
    *(("ad", "microbit"), ("kws_hybrid", "qemu_cortex_m3")),
    *(("ad", "stm32vldiscovery"), ("strww", "stm32vldiscovery")),
}


@pytest.mark.parametrize(
    ("model", "board"),
    [
        pytest.param(
            model,
            board,
            marks=() if (model, board) in _USUAL_SMALL else pytest.mark.slow,
        )
        for board in SMALL_BOARDS
        for model in ALL_FILES
    ],
)
def test_what_cannot_fit_is_refused_with_the_bytes(
    model: str, board: str, mlperf_models: Path, tmp_path: Path
) -> None:
    if model in SMALL_BOARDS[board]:
        microgen.compile_model(mlperf_models / ALL_FILES[model], board)
        return
    with pytest.raises(
        microgen.MicrogenError, match=r"needs at least [\d,]+ bytes of (RAM|flash)"
    ) as error:
        microgen.generate(mlperf_models / ALL_FILES[model], board, tmp_path / "p")
    assert error.value.exit_code == 2
    assert not (tmp_path / "p").exists()
