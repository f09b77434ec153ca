"""Firmware that runs on the simulated accelerator: alone, with the kernels, and with a device."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import microgen
from microgen import frontends
from microgen.base import resources
from microgen.base.errors import RunError
from microgen.building import builder
from microgen.graph.ir.graph import Graph
from microgen.project.firmware.compiled import Compiled
from tests.devices import hooked, sequences
from tests.devices.networks import NPU, placed
from tests.support.graphs import random_graph
from tests.support.places import SMALL
from tests.support.tools import NEEDS_ARM, NEEDS_NINJA, NEEDS_RISCV
from tests.tvm.codegens.accelerator.networks import everything, values
from tests.tvm.codegens.accelerator.test_codegen import ACCELERATOR, DIGITS

BOARDS = (
    pytest.param("native", marks=NEEDS_NINJA),
    pytest.param("mps2_an386", marks=[NEEDS_ARM, NEEDS_NINJA]),
    pytest.param("qemu_riscv32", marks=[NEEDS_RISCV, NEEDS_NINJA]),
)
CRT = resources.folder("crt")
INVALID_STATE = 0x0400  # kTvmErrorSessionInvalidState


def _same_as_builtin(
    graph: Graph, board: str, folder: Path, *, merge: bool, executor: str = "aot"
) -> Compiled:
    """Checks that the accelerator computes the same outputs as the kernels."""
    inputs = {
        name: np.stack([values(graph, seed)[name] for seed in range(3)]) for name in graph.inputs
    }
    found = []
    for name, codegen in (("accelerator", ACCELERATOR), ("builtin", ())):
        options = {"merge_regions": merge and bool(codegen), "executor": executor}
        made = microgen.generate(DIGITS, board, folder / name, codegen=codegen, **options)
        ran = microgen.run(folder / name, inputs, sanitize=board == "native")
        found.append((made, ran.outputs))
    (made, outputs), (_, expected) = found
    assert outputs.keys() == expected.keys()
    for name, array in expected.items():
        assert outputs[name].tobytes() == array.tobytes()
    return made


def _instead(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontends, "graph_of", lambda *_arguments, **_options: graph)


def _turns(*values: object) -> list[ParameterSet]:
    """The first two boards with two values: each value is on one board in every run of the tests,
    and on the other in the slow ones."""
    return [
        pytest.param(*board.values, value, marks=[*board.marks, *[pytest.mark.slow] * (i != k)])
        for i, board in enumerate(BOARDS[:2])
        for k, value in enumerate(values)
    ]


# test_the_digits_network_in_every_way has the other combinations.
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("board", "merge", "executor"),
    [
        pytest.param("native", False, "aot", marks=NEEDS_NINJA),
        pytest.param("mps2_an386", True, "graph", marks=[NEEDS_ARM, NEEDS_NINJA]),
    ],
)
def test_the_digits_network(board: str, merge: bool, executor: str, tmp_path: Path) -> None:
    _check_digits(board, merge=merge, executor=executor, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["aot", "graph"])
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("board", BOARDS)
def test_the_digits_network_in_every_way(
    board: str, merge: bool, executor: str, tmp_path: Path
) -> None:
    _check_digits(board, merge=merge, executor=executor, folder=tmp_path)


def _check_digits(board: str, *, merge: bool, executor: str, folder: Path) -> None:
    graph = frontends.load(DIGITS)
    made = _same_as_builtin(graph, board, folder, merge=merge, executor=executor)
    assert {call.device for call in made.program.calls} == {"accelerator", ""}
    project = folder / "accelerator"
    report = microgen.verify(project)
    assert report.ok
    assert report.check("device_hooks").status == "ok"
    assert "4 hooks" in report.check("device_hooks").expected
    verdicts = microgen.run(project, compare=True).verdicts
    assert [str(verdict) for verdict in verdicts if not verdict.ok] == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "merge"), _turns(True, False))
def test_every_command(
    board: str, merge: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = everything()
    _instead(graph, monkeypatch)
    made = _same_as_builtin(graph, board, tmp_path, merge=merge)
    assert all(call.device for call in made.program.calls)
    assert (len(made.program.calls) < len(graph.nodes)) == merge


@pytest.mark.sampled(1)
@NEEDS_NINJA
@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 24))]
)
def test_random_networks_beside_the_kernels(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(7000 + seed)
    _instead(graph, monkeypatch)
    _same_as_builtin(graph, "native", tmp_path, merge=seed % 2 == 0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "executor"), _turns("aot", "graph"))
def test_beside_a_device_without_a_driver(
    board: str, executor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = frontends.load(SMALL)
    places = ["npu0" if i in (1, 4) else "" for i in range(len(graph.nodes))]
    _instead(placed(graph, places), monkeypatch)
    options = {"codegen": ACCELERATOR, "targets": (NPU,), "executor": executor}
    made = microgen.generate(SMALL, board, tmp_path / "p", **options)
    assert {d.target: d.driver is None for d in made.program.devices} == {
        "npu0": True,
        "accelerator": False,
    }
    result = microgen.run(tmp_path / "p", compare=True)
    assert [str(verdict) for verdict in result.verdicts if not verdict.ok] == []
    assert "8 hooks" in result.checks.check("device_hooks").expected
    assert "microgen: device npu0 Open" in result.console
    assert "device accelerator" not in result.console
    readme = (tmp_path / "p" / "README.md").read_text()
    assert "partly on `accelerator`" in readme
    assert "on devices: `npu0`" in readme


def _replaced(project: Path, driver: str) -> None:
    (project / "src" / "devices.c").write_text(driver)
    builder.build(project)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "executor"), _turns("graph", "aot"))
def test_each_hook_made_to_fail_in_turn(board: str, executor: str, tmp_path: Path) -> None:
    """The status is returned, everything that was begun is ended, and nothing more is computed."""
    project = tmp_path / "p"
    options = {"merge_regions": True, "executor": executor}
    made = microgen.generate(SMALL, board, project, codegen=ACCELERATOR, **options)
    name = "include/microgen/tracing_device.h"
    (project / "crt" / name).write_bytes((CRT / name).read_bytes())
    source = CRT / "src" / "platform/tracing_device.c"
    (project / "src" / "tracing_device.c").write_bytes(source.read_bytes())
    _replaced(project, Path(__file__).with_name("traced_driver.c").read_text())
    whole = list(sequences.hooks(hooked.expected(made.program, {})[0]))
    assert [what.split()[1] for what in whole] == [
        *("Activate", "Open", "Close", "Open", "Close", "Deactivate"),
    ]
    for failing in [{}, *({n: 100 + n} for n in range(1, len(whole) + 1)), {3: 9, 4: 8}]:
        called, status = hooked.run(project, failing, tmp_path)
        expected, wanted = hooked.expected(made.program, failing)
        assert called == list(sequences.hooks(expected)), failing
        assert status == wanted
        (tmp_path / hooked.FAILURES).unlink(missing_ok=True)


ASLEEP = """
#include "devices.h"
#include "microgen/accelerator.h"

static mg_accelerator device;
struct tvmgen_default_devices tvmgen_default_contexts = {.accelerator = &device};
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("board", "left_out"), _turns("Activate", "Open"))
def test_a_driver_that_does_not_wake_the_device(board: str, left_out: str, tmp_path: Path) -> None:
    """Its functions refuse to run, because only the hooks make them work."""
    project = tmp_path / "p"
    microgen.generate(SMALL, board, project, codegen=ACCELERATOR)
    hooks = [f"int32_t TVMDeviceAccelerator{left_out}(void *c)\n{{\n    (void)c; return 0;\n}}\n"]
    for hook in {"Activate", "Open", "Close", "Deactivate"} - {left_out}:
        failing = "mg_accelerator_activate" if hook == "Activate" else ""
        body = f"return {failing}(c);" if failing else "(void)c; return 0;"
        hooks.append(f"int32_t TVMDeviceAccelerator{hook}(void *c)\n{{\n    {body}\n}}\n")
    _replaced(project, ASLEEP + "".join(hooks))
    assert hooked.run(project, {}, tmp_path)[1] == INVALID_STATE
    with pytest.raises(RunError):
        microgen.run(project)


@NEEDS_NINJA
def test_a_context_that_is_missing_is_an_error(tmp_path: Path) -> None:
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project, codegen=ACCELERATOR)
    driver = (project / "src" / "devices.c").read_text()
    _replaced(project, driver.replace("&accelerator_context,", "0,").replace("static", "extern"))
    assert hooked.run(project, {}, tmp_path)[1] == 0x0803  # kTvmErrorFunctionCallInvalidArg


@NEEDS_NINJA
def test_two_models_share_the_device(tmp_path: Path) -> None:
    models = [(SMALL, "first"), (SMALL, "second")]
    microgen.generate_models(models, "native", tmp_path / "p", codegen=ACCELERATOR)
    driver = (tmp_path / "p" / "src" / "devices.c").read_text()
    assert driver.count("static mg_accelerator accelerator_context;") == 1
    verdicts = microgen.run(tmp_path / "p", compare=True, sanitize=True).verdicts
    assert [str(verdict) for verdict in verdicts if not verdict.ok] == []


OUTSIDE = r"""
#include "devices.h"
#include "tvmgen_default_graph.h"
#include "tvm/runtime/crt/platform.h"
#include <stdio.h>

int main(void)
{
    static int8_t image[64], scores[10];
    struct tvmgen_default_inputs inputs = {image};
    struct tvmgen_default_outputs outputs = {.output = scores};
    struct tvmgen_default_devices *const devices = &tvmgen_default_contexts;
    TVMGraphExecutor *executor = NULL;

    TVMPlatformInitialize();
    printf("%d ", (int)tvmgen_default_run(&inputs, &outputs, NULL));
    printf("%d ", (int)tvmgen_default_run(&inputs, &outputs, devices));
    (void)tvmgen_default_graph_executor(&executor);
    printf("%d ", TVMGraphExecutor_Run(executor));
    printf("%d\n", (int)tvmgen_default_run(&inputs, &outputs, devices));
    return 0;
}
"""


@NEEDS_NINJA
def test_a_graph_that_is_run_without_the_devices_is_an_error(tmp_path: Path) -> None:
    """The program calls the executor's own functions after the model's. They pass no contexts."""
    project = tmp_path / "p"
    microgen.generate(SMALL, "native", project, codegen=ACCELERATOR, executor="graph")
    main = project / "src" / "main.c"
    main.write_text(OUTSIDE)
    elf = builder.build(project, sanitize=True).elf
    done = subprocess.run([elf], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2049", "0", "2049", "0"]  # kTvmErrorFunctionCallWrongArgType
