"""The places of the values of loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen.interface import api
from microgen.planner.program.control import leaves
from tests.support.tflite_builder import OperatorSpec, build_model
from tests.support.tflite_loops import ROWS, H, X, below, cell, number, op, real, while_
from tests.support.tools import NEEDS_NINJA


def network(*, reads_again: bool = False) -> bytes:
    """A loop whose first value is computed; ``reads_again``: another layer reads that, too."""
    tensors = [real("x", X), real("h", H), number("n0", 0), real("h0", H)]
    tensors += [number("n1"), real("h1", H), real("x1", X), real("y", H), real("z", H)]
    loop = while_(["n0", "h0", "x"], ["n1", "h1", "x1"], 1, 2)
    last: list[OperatorSpec] = [op("TANH", ["h1"], "y")]
    if reads_again:
        last.append(op("LOGISTIC", ["h0"], "z"))
    operators = [op("TANH", ["h"], "h0"), loop, *last]
    outputs = ["y", "z"] if reads_again else ["y"]
    used = tensors if reads_again else tensors[:-1]
    return build_model(used, operators, ["x", "h"], outputs, more=[below(ROWS), cell()])


@pytest.mark.parametrize("reads_again", [False, True])
def test_a_first_value_that_nothing_else_reads_is_not_twice_in_ram(
    tmp_path: Path, reads_again: bool
) -> None:
    (tmp_path / "m.tflite").write_bytes(network(reads_again=reads_again))
    planned = api.plan(tmp_path / "m.tflite", "mps2_an386")
    (loop,) = (call for call in planned.program.calls if len(call.in_place) > 0 and call.scratch)
    (pair,) = loop.in_place
    names = {loop.args[i].name for i in (pair.input, pair.output)}
    shared = [{one.input, one.output} for one in planned.plan.in_place]
    assert (names in shared) is not reads_again


@NEEDS_NINJA
@pytest.mark.parametrize("interface", ["c", "packed"])
def test_an_operator_that_the_body_calls_too_is_compiled_once(
    tmp_path: Path, interface: str
) -> None:
    (tmp_path / "m.tflite").write_bytes(network())
    done = api.generate(tmp_path / "m.tflite", "native", tmp_path / "p", interface=interface)
    (loop,) = (function.control for function in done.program.functions if function.control)
    called = {call.function.name for call, _ in leaves(loop)}
    assert "tvmgen_default_fused_tanh" in called
    source = (tmp_path / "p/model/codegen/host/src/default_lib1.c").read_text()
    assert source.count("mg_tanh_f32_body(") == 1
    found = api.run(tmp_path / "p", compare=True)
    assert all(verdict.ok for verdict in found.verdicts)
