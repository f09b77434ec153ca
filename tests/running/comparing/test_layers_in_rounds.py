"""Layers inside loops: compare reads each of them in each round, and names the round."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import microgen
from microgen.base import manifest
from microgen.base.errors import StatusRunError, UnsupportedError
from microgen.building import builder
from microgen.graph.ir.graph import Array
from microgen.running import runner
from microgen.running.comparing import compare, stimuli
from microgen.running.comparing.verdict import Verdict
from tests.support import tflite_loops as loops
from tests.support.tools import NEEDS_NINJA

pytestmark = NEEDS_NINJA

LIB1 = "model/codegen/host/src/default_lib1.c"


def generated(data: bytes, folder: Path) -> Path:
    model = folder / "net.tflite"
    model.write_bytes(data)
    microgen.generate(model, "native", folder / "p")
    return folder / "p"


def given(project: Path) -> dict[str, Array]:
    return stimuli.samples(manifest.load(project).inputs, random=1)


def compared(project: Path, pattern: str = "", changed: str = "") -> tuple[Verdict, ...]:
    """The verdicts with a text of the operators changed."""
    source = project / LIB1
    text = source.read_text()
    edited, count = re.subn(pattern, changed, text, count=1, flags=re.DOTALL)
    assert count or not pattern
    source.write_text(edited if pattern else text)
    try:
        elf = builder.build(project).elf
        inputs = given(project)
        outputs = runner.run(project, inputs, elf=elf).outputs
        return compare.compare(project, inputs, outputs, elf)
    finally:
        source.write_text(text)


@pytest.mark.parametrize(
    "make", [loops.recurrent, loops.nested, loops.in_condition, loops.branching, loops.with_state]
)
def test_the_firmware_of_loops_is_the_reference(make: Callable[[], bytes], tmp_path: Path) -> None:
    project = generated(make(), tmp_path)
    for verdict in compared(project):
        assert verdict.ok, str(verdict)


def test_a_wrong_round_is_named(tmp_path: Path) -> None:
    project = generated(loops.recurrent(), tmp_path)
    first, *_ = compared(
        project,
        r"(MG_ONCE int32_t tvmgen_default_fused_tanh_inside\(.*?)    return 0;\n}",
        r"\g<1>    static int calls;\n    if (++calls == 3) {\n        out0[1] += 0.5F;\n"
        r"    }\n    return 0;\n}",
    )
    assert first.difference is not None
    assert first.difference.layer == "new, round 3 of 4"
    assert first.difference.index == (0, 1)


def test_a_wrong_round_of_an_inner_loop_is_named(tmp_path: Path) -> None:
    project = generated(loops.nested(), tmp_path)
    first, *_ = compared(
        project,
        r"(MG_ONCE int32_t tvmgen_default_fused_tanh_inside\(.*?)    return 0;\n}",
        r"\g<1>    static int calls;\n    if (++calls == 6) {\n        out0[0] += 0.5F;\n"
        r"    }\n    return 0;\n}",
    )
    assert first.difference is not None
    assert first.difference.layer == "new, round 2 of 4, round 2 of 2"


def test_more_rounds_than_the_most_end_the_run_with_a_status(tmp_path: Path) -> None:
    model = tmp_path / "net.tflite"
    model.write_bytes(loops.counted_by_input())
    microgen.generate(model, "native", tmp_path / "p", max_rounds=["n1=3"])
    elf = builder.build(tmp_path / "p").elf
    x = np.ones((4, *loops.X), np.float32)
    limits = np.array([0, 1, 2, 3], np.int32)
    found = runner.run(tmp_path / "p", {"x": x, "limit": limits}, elf=elf).outputs
    assert found["n1"].tolist() == [0, 1, 2, 3]
    with pytest.raises(StatusRunError, match="2051"):
        runner.run(tmp_path / "p", {"x": x, "limit": limits + 1}, elf=elf)


def test_the_graph_executor_has_no_loops(tmp_path: Path) -> None:
    model = tmp_path / "net.tflite"
    model.write_bytes(loops.recurrent())
    with pytest.raises(UnsupportedError, match="has no loops"):
        microgen.compile_model(model, board="native", executor="graph")


def test_values_that_may_be_replaced_in_place_are_not_copied(tmp_path: Path) -> None:
    """The new h is computed in the place of the old one, n only after the row was taken."""
    text = (generated(loops.recurrent(), tmp_path) / LIB1).read_text()
    body = text.split("for (int32_t round")[1]
    calls = re.findall(r"fused_(\w+?)_inside", body)
    assert calls == ["add", "take", "nn_dense", "add", "tanh", "copy"]
    assert re.search(r"tanh_inside\([^;]*out1\)", body)
