"""A model that keeps a state between runs, from its file to its outputs."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import microgen
from microgen.building import builder
from microgen.graph.ir.graph import Array, DType
from microgen.running import runner
from microgen.running.comparing import compare
from tests.kernels.conformance import stateful
from tests.kernels.conformance.litert_oracle import interpreter_of, needs_litert
from tests.kernels.conformance.stateful import Network
from tests.kernels.recurrent import lstm_cases, svdf_cases
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_NINJA, NEEDS_RISCV

BATCH, FEATURES, FILTERS, MEMORY = 1, 16, 12, 5
RUNS = 5
OPTIONS: tuple[dict[str, str], ...] = ({}, {"optimize": "flash"}, {"planner": "on-demand"})
SEQUENCES = [
    *(("native", options) for options in OPTIONS),
    *(
        pytest.param(board, options, marks=(needs, *[pytest.mark.slow] * bool(options)))
        for board, needs in (("mps2_an386", NEEDS_ARM), ("qemu_riscv32", NEEDS_RISCV))
        for options in OPTIONS
    ),
]


def _model() -> bytes:
    """FULLY_CONNECTED, SVDF of rank 2, FULLY_CONNECTED. The state is among other buffers."""
    rng = np.random.default_rng(3)

    def constant(name: str, shape: tuple[int, ...], dtype: str, scale: float) -> TensorSpec:
        limit = 128 if dtype == "int8" else 2000
        values = rng.integers(1 - limit, limit, shape).astype(dtype)
        return TensorSpec(name, shape, dtype, values, (scale,), (0,))

    def activation(name: str, size: int, scale: float, zero_point: int) -> TensorSpec:
        return TensorSpec(name, (BATCH, size), "int8", None, (scale,), (zero_point,))

    tensors = [
        activation("x", FEATURES, 0.1, 5),
        constant("w0", (FEATURES, FEATURES), "int8", 0.01),
        activation("h", FEATURES, 0.5, -3),
        constant("feature", (FILTERS, FEATURES), "int8", 0.01),
        constant("time", (FILTERS, MEMORY), "int16", 0.001),
        constant("bias", (FILTERS // 2,), "int32", 0.001),
        TensorSpec(
            *("state", (BATCH, MEMORY * FILTERS), "int16", None, (0.005,), (0,)), is_variable=True
        ),
        activation("s", FILTERS // 2, 0.3, -128),
        constant("w1", (4, FILTERS // 2), "int8", 0.01),
        activation("y", 4, 0.5, 0),
    ]
    dense = ("FullyConnectedOptions", {}, 4)
    operators = [
        OperatorSpec("FULLY_CONNECTED", ["x", "w0", -1], ["h"], *dense),
        OperatorSpec(
            *("SVDF", ["h", "feature", "time", "bias", "state"], ["s"], "SVDFOptions"),
            *({"rank": 2, "fusedActivationFunction": 1}, 3),
        ),
        OperatorSpec("FULLY_CONNECTED", ["s", "w1", -1], ["y"], *dense),
    ]
    return build_model(tensors, operators, ["x"], ["y"])


def _samples() -> Array:
    rng = np.random.default_rng(5)
    return rng.integers(-128, 128, (RUNS, BATCH, FEATURES)).astype(np.int8)


def _by_litert(samples: Array, *, reset_before: int = 0) -> Array:
    """The outputs of one interpreter. Its variables are reset before sample ``reset_before``."""
    interpreter = interpreter_of(_model())
    outputs = []
    for i, sample in enumerate(samples):
        if i == reset_before:
            interpreter.reset_all_variables()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return np.stack(outputs)


def _project(folder: Path, board: str = "native", **options: object) -> Path:
    (folder / "m.tflite").write_bytes(_model())
    microgen.generate(folder / "m.tflite", board, folder / "p", **options)
    return folder / "p"


@pytest.mark.sampled(2)
@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize(("board", "options"), SEQUENCES)
def test_a_sequence_of_runs_equals_litert(
    board: str, options: dict[str, str], tmp_path: Path
) -> None:
    project = _project(tmp_path, board, **options)
    microgen.build(project)
    assert microgen.verify(project).ok
    samples = _samples()
    result = microgen.run(project, {"x": samples}, compare=True)
    np.testing.assert_array_equal(result.outputs["y"], _by_litert(samples))
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert len(result.verdicts) == 2


@NEEDS_NINJA
@needs_litert
def test_the_sanitized_firmware(tmp_path: Path) -> None:
    project = _project(tmp_path)
    result = microgen.run(project, {"x": _samples()}, sanitize=True)
    np.testing.assert_array_equal(result.outputs["y"], _by_litert(_samples()))


@needs_litert
def test_a_reset_makes_a_difference() -> None:
    """So the test below would notice a reset that does nothing."""
    samples = _samples()
    assert np.any(_by_litert(samples) != _by_litert(samples, reset_before=3))


RESETTING_MAIN = """
#include "tvmgen_default.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    int8_t in[TVMGEN_DEFAULT_X_SIZE];
    int8_t out[TVMGEN_DEFAULT_OUTPUT_SIZE];
    struct tvmgen_default_inputs inputs = {in};
    struct tvmgen_default_outputs outputs = {.output = out};
    int run;
    (void)argc;
    (void)argv;
    tvmgen_default_reset();
    for (run = 0; fread(in, sizeof in, 1, stdin) == 1; run++) {
        if (run == 3) {
            tvmgen_default_reset();
        }
        if (tvmgen_default_run(&inputs, &outputs) != 0) {
            return 1;
        }
        (void)fwrite(out, sizeof out, 1, stdout);
    }
    return 0;
}
"""


@needs_litert
@NEEDS_CC
def test_a_reset_between_runs_forgets_all_that_came_before(tmp_path: Path) -> None:
    project = _project(tmp_path)
    host = project / "model" / "codegen" / "host"
    (tmp_path / "own.c").write_text(RESETTING_MAIN)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", str(tmp_path / "own")]
    command += [f"-I{host / 'include'}", f"-I{project / 'crt' / 'include'}"]
    sources = [*sorted((host / "src").glob("*.[cS]")), tmp_path / "own.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    samples = _samples()
    done = subprocess.run(
        [str(tmp_path / "own")], input=samples.tobytes(), capture_output=True, check=True
    )
    expected = _by_litert(samples, reset_before=3)
    assert done.stdout == expected.tobytes()


@NEEDS_NINJA
@NEEDS_ARM
def test_a_reset_that_leaves_something_behind_is_found_at_its_layer(tmp_path: Path) -> None:
    project = _project(tmp_path, "mps2_an386")
    source = next(project.rglob("default_lib0.c"))
    nbytes = BATCH * MEMORY * FILTERS * 2
    text = source.read_text()
    assert f"0, {nbytes}U)" in text
    source.write_text(text.replace(f"0, {nbytes}U)", f"7, {nbytes}U)"))
    built = builder.build(project)
    inputs = {"x": _samples()}
    outputs = runner.run(project, inputs, elf=built.elf).outputs
    found = compare.compare(project, inputs, outputs, built.elf)[0].difference
    assert found is not None
    assert (found.sample, found.layer) == (0, "s")


# The operators as the only ones in a model


def _alone(name: str) -> Network:
    make = {"svdf": svdf_cases.network, "lstm": lstm_cases.network}[name.partition("_")[0]]
    return make(9, DType.FLOAT32 if name.endswith("f32") else DType.INT8)


ALONE = ("svdf_s8", "svdf_f32", "lstm_s8", "lstm_f32")
# In every run of the tests, each operator on one board at least, and kernels for DSP instructions
# on a core that has them. The sanitized firmware for the host has all operators, too.
USUAL = {
    *(("native", "svdf_f32"), ("qemu_riscv32", "svdf_s8"), ("qemu_riscv32", "lstm_f32")),
    *(("mps2_an386", "svdf_s8"), ("mps2_an386", "lstm_s8")),
    *(("native", "lstm_s16"), ("mps2_an386", "lstm_s8_table"), ("qemu_riscv32", "lstm_s16")),
}


def _on_boards(names: Iterable[str], *more: str) -> list[ParameterSet]:
    """Every name on every board; those that are not usual are slow."""
    needs = {"native": [], "qemu_riscv32": [NEEDS_RISCV]}
    return [
        pytest.param(
            *(board, name),
            marks=[
                *needs.get(board, [NEEDS_ARM]),
                *[pytest.mark.slow] * ((board, name) not in USUAL),
            ],
        )
        for board in ("native", "mps2_an386", "qemu_riscv32", *more)
        for name in names
    ]


@pytest.mark.sampled(2)
@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize(("board", "name"), _on_boards(ALONE, "mps2_an385"))
def test_an_operator_equals_litert(board: str, name: str, tmp_path: Path) -> None:
    network = _alone(name)
    (tmp_path / "m.tflite").write_bytes(network.to_bytes())
    project = tmp_path / "p"
    microgen.generate(tmp_path / "m.tflite", board, project)
    microgen.build(project)
    assert microgen.verify(project).ok
    result = microgen.run(project, {"x": np.stack(network.samples)}, compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert len(result.verdicts) == 2


TABLES = {"lstm_s8_table": DType.INT8, "lstm_s16": DType.INT16}


def _by_tables(name: str) -> Network:
    return lstm_cases.network_of(lstm_cases.table_layer(9, TABLES[name]), 9)


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize(("board", "name"), _on_boards(TABLES))
def test_an_lstm_of_tflite_micro_equals_the_reference(
    board: str, name: str, tmp_path: Path
) -> None:
    network = _by_tables(name)
    (tmp_path / "m.tflite").write_bytes(network.to_bytes())
    project = tmp_path / "p"
    microgen.generate(tmp_path / "m.tflite", board, project, numerics="tflm")
    microgen.build(project)
    assert microgen.verify(project).ok
    result = microgen.run(project, {"x": np.stack(network.samples)}, compare=True)
    by_numpy, by_runtime = result.verdicts
    assert by_numpy.ok, str(by_numpy)
    # TFLite Micro is an extra, and refuses some of these networks.
    assert by_runtime.ok or by_runtime.is_skipped, str(by_runtime)
    expected = [values["y"] for values in stateful.by_reference(network, profile="tflm")]
    assert np.array_equal(result.outputs["y"], np.stack(expected))


def _optimized(names: Iterable[str]) -> list[ParameterSet]:
    """Every name with both optimizations, of which one is slow, in turn."""
    return [
        pytest.param(name, optimize, marks=[pytest.mark.slow] * ((i + k) % 2))
        for i, name in enumerate(names)
        for k, optimize in enumerate(("balanced", "flash"))
    ]


# tests/kernels runs the kernels' inlined and out-of-line forms under the sanitizers.
@NEEDS_NINJA
@pytest.mark.parametrize(("name", "optimize"), _optimized(TABLES))
def test_an_lstm_of_tflite_micro_under_the_sanitizers(
    name: str, optimize: str, tmp_path: Path
) -> None:
    network = _by_tables(name)
    (tmp_path / "m.tflite").write_bytes(network.to_bytes())
    microgen.generate(
        tmp_path / "m.tflite", "native", tmp_path / "p", optimize=optimize, numerics="tflm"
    )
    inputs = {"x": np.stack(network.samples)}
    result = microgen.run(tmp_path / "p", inputs, sanitize=True, compare=True)
    assert result.verdicts[0].ok, str(result.verdicts[0])


@pytest.mark.sampled(2)
@NEEDS_NINJA
@pytest.mark.parametrize(
    ("name", "optimize"), _optimized(("svdf_s8", "svdf_f32", "lstm_s8", "lstm_f32"))
)
def test_an_operator_under_the_sanitizers(name: str, optimize: str, tmp_path: Path) -> None:
    network = _alone(name)
    (tmp_path / "m.tflite").write_bytes(network.to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p", optimize=optimize)
    inputs = {"x": np.stack(network.samples)}
    result = microgen.run(tmp_path / "p", inputs, sanitize=True, compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []


def test_int8_state_is_reset_to_its_zero_point(tmp_path: Path) -> None:
    layer = lstm_cases.random_layer(9, DType.INT8)
    layer = dataclasses.replace(layer, zero_point={**layer.zero_point, "y": -3})
    (tmp_path / "m.tflite").write_bytes(lstm_cases.network_of(layer, 9).to_bytes())
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    text = next((tmp_path / "p").rglob("default_lib0.c")).read_text()
    assert f"], {256 - 3}, {layer.batch * layer.outputs}U);" in text
    assert f"], 0, {layer.batch * layer.cells * 2}U);" in text


def test_header_runner_main_and_readme_speak_of_the_reset(tmp_path: Path) -> None:
    project = _project(tmp_path)
    host = project / "model" / "codegen" / "host"
    header = (host / "include" / "tvmgen_default.h").read_text()
    assert header.count("void tvmgen_default_reset(void);") == 1
    text = (host / "src" / "default_lib0.c").read_text()
    nbytes = BATCH * MEMORY * FILTERS * 2
    assert f"0, {nbytes}U); /* sid_1 */" in text
    assert f"{nbytes}  always       sid_1" in text
    assert "tvmgen_default_reset();" in (project / "src" / "main.c").read_text()
    assert "tvmgen_default_reset" in (project / "README.md").read_text()


def test_a_model_without_state_has_no_reset(tmp_path: Path) -> None:
    tensors = [TensorSpec(n, (1, 4), "int8", None, (0.5,), (0,)) for n in "xy"]
    operator = OperatorSpec("RELU", ["x"], ["y"])
    (tmp_path / "m.tflite").write_bytes(build_model(tensors, [operator], ["x"], ["y"]))
    microgen.generate(tmp_path / "m.tflite", "native", tmp_path / "p")
    texts = [path.read_bytes() for path in (tmp_path / "p").rglob("*.[ch]")]
    assert not any(b"_reset(void)" in text for text in texts)


def test_the_manifest_says_which_buffer_is_state(tmp_path: Path) -> None:
    compiled = microgen.compile_model(_project(tmp_path) / ".." / "m.tflite", "native")
    records = compiled.manifest.plan.buffers
    assert {b.tensor for b in records if b.is_state} == {"state"}
    (state,) = (b for b in records if b.is_state)
    assert (state.first, state.last) == (0, 2 * len(compiled.program.calls) + 1)
