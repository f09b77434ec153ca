"""Generated C with tensors in the caller's buffers: it computes what the reference does, under
AddressSanitizer, and refuses what the caller must not pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgen import verifier
from microgen.base import manifest
from microgen.building import builder
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from microgen.options import Options
from microgen.running import runner
from tests.project.emit.test_pools_c import own_program
from tests.support.compiling import by_port, write_project
from tests.support.graphs import Builder
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA
SETTINGS: dict[str, dict[str, Any]] = {
    "outputs": {"output_workspace": True},
    "inputs": {"input_consumed": True},
    "both, and bytes in front": {
        "output_workspace": True,
        "input_consumed": True,
        "input_headroom": 512,
        "alignment": 4,
    },
}


def _inputs(graph: Graph, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: rng.integers(-128, 128, (3, *graph.types[name].shape)).astype(np.int8)
        for name in graph.inputs
    }


def _check(graph: Graph, project: Path, options: Options, seed: int) -> None:
    """Three samples, so that the inputs must be written before each run."""
    program = write_project(graph, project, options)
    plain = builder.build(project)
    assert not verifier.verify(project, elf=plain.elf).failed
    built = builder.build(project, sanitize=True)
    inputs = _inputs(graph, seed)
    result = runner.run(project, inputs, elf=built.elf)
    for i in range(3):
        values = evaluate(graph, {name: a[i] for name, a in inputs.items()}, registry())
        for name, expected in by_port(program, graph, values).items():
            assert np.array_equal(result.outputs[name][i], expected)


def _dense() -> Graph:
    """Small tensors between an input and an output of 64 bytes."""
    b = Builder(7)
    return b.graph(b.dense(b.dense(b.dense(b.dense(b.input(1, 64), 16), 8), 16), 64))


def _images() -> Graph:
    """The first layers may take the bytes of the input, with a lag or without."""
    b = Builder(8)
    data = b.depthwise(b.conv(b.clip(b.input(1, 12, 12, 4), Activation.RELU), 4))
    return b.graph(b.conv(b.pool(data, "max"), 3))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("graph", [_dense, _images])
def test_networks_compute_what_the_reference_does(
    setting: str, graph: Callable[[], Graph], tmp_path: Path
) -> None:
    _check(graph(), tmp_path / "p", Options(**SETTINGS[setting]), 23)
    plan = manifest.load(tmp_path / "p").plan
    ports = {pool.name for pool in plan.pools if pool.port}
    if graph is _dense or setting != "outputs":
        assert len([b for b in plan.buffers if b.pool in ports]) > len(ports)


def test_one_buffer_for_both(tmp_path: Path) -> None:
    _check(_dense(), tmp_path / "p", Options(output_overlay=True), 24)
    plan = manifest.load(tmp_path / "p").plan
    assert (plan.peak, plan.io_bytes) == (16, 64)


MAIN = """
#include "tvmgen_default.h"
#include <stdio.h>
__attribute__((aligned(16))) static int8_t in[TVMGEN_DEFAULT_INPUT0_SIZE + 1];
static int8_t out[TVMGEN_DEFAULT_OUTPUT_SIZE];
int main(void)
{
    struct tvmgen_default_inputs inputs = {.input0 = in}, odd = {.input0 = in + 1};
    struct tvmgen_default_outputs outputs = {.output = out}, same = {.output = in};
    printf("%x %x %x", (unsigned)tvmgen_default_run(&inputs, &outputs),
           (unsigned)tvmgen_default_run(&odd, &outputs),
           (unsigned)tvmgen_default_run(&inputs, &same));
    return 0;
}
"""


@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        ({"input_consumed": True, "output_workspace": True}, "0 803 803"),
        ({"output_overlay": True}, "803 803 0"),
        ({"output_workspace": True}, "0 0 803"),
    ],
)
def test_a_run_refuses_pointers_that_cannot_be(
    options: dict[str, Any], statuses: str, tmp_path: Path
) -> None:
    write_project(_dense(), tmp_path / "p", Options(**options))
    assert own_program(tmp_path / "p", MAIN) == statuses


def test_the_header_says_what_the_caller_owes(tmp_path: Path) -> None:
    options = SETTINGS["both, and bytes in front"]
    write_project(_images(), tmp_path / "p", Options(**options))
    text = next((tmp_path / "p").rglob("tvmgen_default.h")).read_text()
    size = 12 * 12 * 4
    front = int(text.split("INPUT0_HEADROOM ")[1].split()[0])
    assert f"#define TVMGEN_DEFAULT_INPUT0_BUFFER_SIZE {size + front}\n" in text
    assert "a run overwrites input0 and TVMGEN_DEFAULT_INPUT0_HEADROOM bytes in front of" in text
    assert "    int8_t *data)" in text
    assert "const int8_t *data)" not in text
