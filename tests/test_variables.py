"""Models with resource variables, from their files to sequences of outputs on the boards."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base.errors import UnsupportedError
from microgen.building import builder
from microgen.interface import api
from microgen.planner.program.types import RunnerCall
from microgen.running import runner
from microgen.running.comparing import compare
from tests.kernels.conformance.litert_oracle import needs_litert
from tests.support import streaming
from tests.support.tools import NEEDS_ARM, NEEDS_CC, NEEDS_NINJA, NEEDS_RISCV

BOARDS = [
    "native",
    pytest.param("mps2_an386", marks=NEEDS_ARM),
    pytest.param("qemu_riscv32", marks=[NEEDS_RISCV, pytest.mark.slow]),
]
CONSTANT = np.arange(48, dtype=np.int8).reshape(1, 3, 1, 16)


def _mixed() -> bytes:
    """Two variables that swap their values, one whose initial bytes differ, one that is assigned
    the sum of itself and the input, and one that is never assigned."""
    m = streaming.Model()
    x = m.input("x", (1, 1, 1, 16))
    first = np.full((1, 1, 1, 16), 7, np.int8)
    a, b = m.variable("a", first), m.variable("b", first + 1)
    old_a, old_b = m.read(a, "old_a", x), m.read(b, "old_b", x)
    m.assign(a, old_b)
    m.assign(b, old_a)
    total = m.variable("total", np.arange(16, dtype=np.int8).reshape(first.shape))
    old = m.read(total, "old_total", x)
    add = "AddOptions"
    m.assign(total, m.add("ADD", [old, x], m.tensor("sum", (1, 1, 1, 16)), add))
    new = m.read(total, "new_total", x)
    fixed = m.read(m.variable("fixed", first + 3), "fixed_value", x)
    m.outputs = [
        m.stream(x, "window", 3, CONSTANT),
        m.add("ADD", [old_a, new], m.tensor("y0", (1, 1, 1, 16)), add),
        m.add("ADD", [old, fixed], m.tensor("y1", (1, 1, 1, 16)), add),
    ]
    return m.to_bytes()


def _project(folder: Path, model: bytes, board: str = "native", **options: object) -> Path:
    (folder / "m.tflite").write_bytes(model)
    microgen.generate(folder / "m.tflite", board, folder / "p", **options)
    return folder / "p"


def _compared(project: Path, samples: streaming.Array, **options: bool) -> streaming.Array:
    result = microgen.run(project, {"x": samples}, compare=True, **options)  # type: ignore[arg-type]
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert len(result.verdicts) == 2
    assert not any(verdict.is_skipped for verdict in result.verdicts)
    return result.outputs["probability" if "probability" in result.outputs else "y0"]


@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize("board", BOARDS)
def test_a_wake_word_equals_litert(board: str, tmp_path: Path) -> None:
    model = streaming.wake_word()
    project = _project(tmp_path, model, board)
    microgen.build(project)
    assert microgen.verify(project).ok
    samples = streaming.steps(40)
    expected = streaming.by_litert(model, samples)
    assert len(np.unique(expected)) > 8
    np.testing.assert_array_equal(_compared(project, samples), expected)


OPTIONS: tuple[dict[str, object], ...] = (
    {"interface": "packed"},
    {"optimize": "flash"},
    {"planner": "on-demand", "alignment": 1},
    {"workspace_io": True},
    {"pool": ["a:2K", "b:*"]},
    {"pool": ["a:*", "flash:*:const:external"]},
)


# In every run of the tests, each option with one of the models.
@pytest.mark.sampled(2)
@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize(
    ("make", "options"),
    [
        pytest.param(*(make, options), marks=[pytest.mark.slow] * ((i + k) % 2), id=f"{k}-{i}")
        for k, make in enumerate((streaming.wake_word, _mixed))
        for i, options in enumerate(OPTIONS)
    ],
)
def test_options_make_no_difference(
    make: object, options: dict[str, object], tmp_path: Path
) -> None:
    model = make()  # type: ignore[operator]
    project = _project(tmp_path, model, **options)
    samples = streaming.steps(12, (1, 2, 40) if make is streaming.wake_word else (1, 1, 1, 16))
    microgen.build(project)
    assert microgen.verify(project).ok
    _compared(project, samples)


@NEEDS_NINJA
@needs_litert
@pytest.mark.parametrize("board", BOARDS)
def test_values_are_exchanged_summed_and_kept(board: str, tmp_path: Path) -> None:
    project = _project(tmp_path, _mixed(), board)
    _compared(project, streaming.steps(20, (1, 1, 1, 16)), sanitize=board == "native")


def _kernels(call: RunnerCall) -> list[str]:
    return [step.kernel for step in call.steps]


def test_windows_are_moved_in_place_and_nothing_else_is_copied(tmp_path: Path) -> None:
    """Each window is one buffer, which its call reads and writes, and which the layers read."""
    (tmp_path / "m.tflite").write_bytes(streaming.wake_word())
    program, *_ = api.plan(tmp_path / "m.tflite", "mps2_an386")
    kept = {b.name: b.tensor for b in program.state}
    assert list(kept.values()).count("stream_3/old'") == 1  # it slices first: it needs no more rows
    assert len(kept) == 5
    slides = [call for call in program.calls if _kernels(call) == ["mg_slide"]]
    assert {call.args[0].name for call in slides} == kept.keys()
    assert all(call.args[0] == call.args[-1] for call in slides)
    early = {kernel for call in program.calls[:4] for kernel in _kernels(call)}
    assert early.isdisjoint({"mg_copy", "mg_write_slice"})
    sizes = [b.nbytes for b in program.state]
    assert sorted(sizes) == sorted([5 * 40, 5 * 16, 9 * 24, 6 * 20, 3 * 16])


def test_a_sum_in_a_variable_is_computed_in_its_place(tmp_path: Path) -> None:
    """An addition may run in place, but other layers read the variable after it."""
    m = streaming.Model()
    x = m.input("x", (1, 16))
    handle = m.variable("v", np.full((1, 16), 3, np.int8))
    old = m.read(handle, "old", x)
    new = m.add("ADD", [old, x], m.tensor("new", (1, 16)), "AddOptions")
    m.assign(handle, new)
    m.outputs = [m.add("RELU", [new], m.tensor("y", (1, 16)))]
    (tmp_path / "m.tflite").write_bytes(m.to_bytes())
    program, *_ = api.plan(tmp_path / "m.tflite", "native")
    assert [[step.op for step in call.steps] for call in program.calls] == [["add"], ["clip"]]
    m.outputs.append(m.add("RELU", [old], m.tensor("z", (1, 16))))
    (tmp_path / "m.tflite").write_bytes(m.to_bytes())
    program, *_ = api.plan(tmp_path / "m.tflite", "native")
    assert [_kernels(call) for call in program.calls].count(["mg_copy"]) == 1


# Resets

RESETTING_MAIN = """
#include "tvmgen_default.h"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int8_t in[TVMGEN_DEFAULT_X_SIZE];
    int8_t out[TVMGEN_DEFAULT_OUTPUT_SIZE];
    struct tvmgen_default_inputs inputs = {in};
    struct tvmgen_default_outputs outputs = {.output = out};
    int run;
    (void)argc;
    (void)argv;
    for (run = 0; fread(in, sizeof in, 1, stdin) == 1; run++) {
        if (run % %EVERY% == 0) {
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


def by_own_main(project: Path, folder: Path, samples: streaming.Array, every: int) -> bytes:
    """The outputs of a program that resets the model every so many samples."""
    host = project / "model" / "codegen" / "host"
    (folder / "own.c").write_text(RESETTING_MAIN.replace("%EVERY%", str(every)))
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", str(folder / "own")]
    command += [f"-I{host / 'include'}", f"-I{project / 'crt' / 'include'}"]
    sources = [*sorted((host / "src").glob("*.[cS]")), folder / "own.c"]
    subprocess.run([*command, *map(str, sources)], check=True)
    done = subprocess.run(
        [str(folder / "own")], input=samples.tobytes(), capture_output=True, check=True
    )
    return done.stdout


@needs_litert
@NEEDS_CC
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_thousand_steps_with_resets_equal_litert(seed: int, tmp_path: Path) -> None:
    model, samples, every = streaming.wake_word(seed), streaming.steps(1000, seed=seed), 137
    expected = streaming.by_litert(model, samples, range(0, 1000, every))
    assert np.any(expected != streaming.by_litert(model, samples))
    assert len(np.unique(expected)) > 40
    found = by_own_main(_project(tmp_path, model), tmp_path, samples, every)
    assert found == expected.tobytes()


@needs_litert
@NEEDS_CC
def test_a_reset_copies_initial_bytes_that_differ(tmp_path: Path) -> None:
    m = streaming.Model()
    window = m.stream(m.input("x", (1, 1, 1, 16)), "window", 3, CONSTANT)
    m.outputs = [m.add("RELU", [window], m.tensor("y", (1, 4, 1, 16)))]
    model, samples = m.to_bytes(), streaming.steps(20, (1, 1, 1, 16))
    project = _project(tmp_path, model)
    source = (project / "model/codegen/host/src/default_lib0.c").read_text()
    assert re.search(r"memcpy\(.*default_\w*initial, 64U\)", source)
    expected = streaming.by_litert(model, samples, range(0, 20, 6))
    assert by_own_main(project, tmp_path, samples, 6) == expected.tobytes()


@NEEDS_NINJA
@NEEDS_ARM
@needs_litert
def test_resets_on_the_board(tmp_path: Path) -> None:
    model, samples, every = streaming.wake_word(), streaming.steps(60), 9
    project = _project(tmp_path, model, "mps2_an386")
    main = project / "src" / "main.c"
    text = main.read_text()
    assert text.count("*status = infer();") == 1
    reset = f"if (*samples % {every} == 0) {{ tvmgen_default_reset(); }}\n*status = infer();"
    main.write_text(text.replace("*status = infer();", reset))
    outputs = runner.run(project, {"x": samples}, elf=builder.build(project).elf).outputs
    expected = streaming.by_litert(model, samples, range(0, 60, every))
    assert np.any(expected != streaming.by_litert(model, samples))
    np.testing.assert_array_equal(outputs["probability"], expected)


@NEEDS_NINJA
@NEEDS_ARM
def test_a_reset_that_leaves_something_behind_is_found(tmp_path: Path) -> None:
    project = _project(tmp_path, streaming.wake_word(), "mps2_an386")
    source = next(project.rglob("default_lib0.c"))
    text = source.read_text()
    assert text.count("128, 216U)") == 1
    source.write_text(text.replace("128, 216U)", "127, 216U)"))
    built = builder.build(project)
    inputs = {"x": streaming.steps(3)}
    outputs = runner.run(project, inputs, elf=built.elf).outputs
    found = compare.compare(project, inputs, outputs, built.elf)[0].difference
    assert found is not None
    assert (found.sample, found.layer) == (0, "stream_2/concat")


# Several models, and what cannot be


@NEEDS_NINJA
@NEEDS_ARM
@needs_litert
def test_models_with_state_have_their_own_workspace(tmp_path: Path) -> None:
    m = streaming.Model()
    m.outputs = [m.conv(m.input("x", (1, 2, 1, 40)), "conv", 8)]
    stateless = m.to_bytes(more=[streaming.SubgraphSpec([], [])])
    for name, model in {"a": _mixed(), "b": stateless}.items():
        (tmp_path / f"{name}.tflite").write_bytes(model)
    models = [(tmp_path / f"{name}.tflite", name) for name in "ab"]
    project = tmp_path / "p"
    microgen.generate_models([*models, (tmp_path / "a.tflite", "again")], "mps2_an386", project)
    microgen.build(project)
    assert microgen.verify(project).ok
    result = microgen.run(project, compare=True)
    assert all(verdict.ok for verdict in result.verdicts)
    with pytest.raises(UnsupportedError, match="with a state"):
        microgen.generate_models(models, "mps2_an386", tmp_path / "x", shared_workspace=True)


def test_the_graph_executor_keeps_no_variables(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="keeps no state between runs, but the model keeps"):
        _project(tmp_path, streaming.wake_word(), executor="graph")


def test_an_input_in_the_workspace_does_not_take_the_place_of_a_variable(tmp_path: Path) -> None:
    """The first call may write its output where it reads the input, but not if that is state."""
    m = streaming.Model()
    x = m.input("x", (1, 16))
    handle = m.variable("v", np.full((1, 16), 3, np.int8))
    new = m.add("ADD", [m.read(handle, "old", x), x], m.tensor("new", (1, 16)), "AddOptions")
    m.assign(handle, new)
    m.outputs = [m.add("RELU", [new], m.tensor("y", (1, 16)))]
    (tmp_path / "m.tflite").write_bytes(m.to_bytes())
    for planner in ("optimal", "greedy", "on-demand"):
        options = {"planner": planner, "workspace_io": True}
        program, plan, _ = api.plan(tmp_path / "m.tflite", "native", **options)
        (state,) = program.state
        (port,) = program.inputs
        places = [plan.by_name[name] for name in (state.name, port.buffer)]
        assert places[0].offset != places[1].offset
        assert not any(state.name in (pair.input, pair.output) for pair in plan.in_place)


@NEEDS_NINJA
@NEEDS_ARM
def test_verify_finds_a_layer_that_reads_another_state(tmp_path: Path) -> None:
    project = _project(tmp_path, streaming.wake_word(), "mps2_an386")
    source = next(project.rglob("default_lib0.c"))
    text = source.read_text()
    (windows, *_) = re.findall(r"const int8_t \*\)&\w+\[\d+\] /\* (sid_\d+) \*/", text)
    place = re.search(rf"\(const int8_t \*\)&(\w+)\[(\d+)\] /\* {windows} \*/", text)
    assert place
    last = text.rindex(place[0])
    assert last != text.index(place[0])
    wrong = place[0].replace(f"[{place[2]}]", f"[{int(place[2]) + 16}]")
    source.write_text(text[:last] + wrong + text[last + len(place[0]) :])
    built = builder.build(project)
    failed = {check.name for check in microgen.verify(project, elf=built.elf).failed}
    assert "runner" in failed
