"""Tensors in the caller's input and output buffers: which lie there, and what the check finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import ArrayType, DType
from microgen.options import Options
from microgen.planner import ALGORITHMS, check, plan
from microgen.planner.program import port_buffers
from microgen.planner.program.plan import MemoryPlan, Pool
from microgen.planner.program.types import Port, Program
from tests.planner.builder import INT8, Builder, chain, changed
from tests.planner.strategies import programs

quick = settings(max_examples=80, deadline=None, derandomize=True)
EVERY = pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
WORDS = ArrayType((1,), DType.INT32)


def _io(program: Program, given: int, made: int, kind: ArrayType = INT8) -> Program:
    """The program with an input and an output of so many bytes; all its tensors are of a kind."""
    calls = tuple(replace(call, types=(kind,) * len(call.args)) for call in program.calls)
    source = Port("input", "input", ArrayType((given,), DType.INT8), sid="sid_in")
    target = Port("output", "output", ArrayType((made,), DType.INT8), sid="sid_out")
    return replace(program, calls=calls, inputs=(source,), outputs=(target,))


def _ported(
    program: Program,
    *,
    outputs: bool = False,
    inputs: bool = False,
    overlay: bool = False,
    before: int = 0,
) -> tuple[Program, tuple[Pool, ...]]:
    return port_buffers.planned(
        program, 16, outputs=outputs, inputs=inputs, overlay=overlay, before=before
    )


def _in(made: MemoryPlan, pool: str) -> dict[str, int]:
    return {p.name: p.offset for p in made.placements if p.pool == pool}


AUTOENCODER = _io(chain([128, 128, 128, 8, 128, 128]), 640, 640)


def test_tensors_lie_in_the_output_until_it_is_written() -> None:
    program, pools = _ported(AUTOENCODER, outputs=True)
    made = plan(program, pools=pools)
    assert (made.peak, made.gap) == (128, 0)  # the last tensor is read while the output is written
    assert "sid_5" in _in(made, "global_workspace")
    assert {"sid_0", "sid_1"} < _in(made, "outputs.output").keys()
    assert plan(AUTOENCODER).peak == 256


def test_tensors_lie_in_the_input_after_its_last_reader() -> None:
    program, pools = _ported(AUTOENCODER, outputs=True, inputs=True)
    made = plan(program, pools=pools)
    assert made.peak == 0
    assert "sid_5" in _in(made, "inputs.input")
    assert "sid_0" not in _in(made, "inputs.input")


def test_one_buffer_is_both() -> None:
    program, pools = _ported(AUTOENCODER, overlay=True)
    made = plan(program, pools=pools)
    assert (made.peak, program.io_bytes) == (128, 640)
    assert _in(made, "inputs.input").items() >= {"sid_in": 0, "sid_out": 0}.items()


def test_an_output_cannot_be_in_an_input_that_is_still_read() -> None:
    builder = Builder().call(["input"], {"a": 8}).call(["a", "input"], ["output"])
    program, pools = _ported(_io(builder.build(), 64, 64), overlay=True)
    with pytest.raises(UnsupportedError, match="--output-overlay: the output is written while"):
        plan(program, pools=pools)


def test_an_output_may_take_the_place_of_its_input() -> None:
    builder = Builder().call(["input"], ["output"], in_place=[(0, 0)])
    program, pools = _ported(_io(builder.build(), 64, 64), overlay=True)
    made = plan(program, pools=pools)
    assert [(p.input, p.output) for p in made.in_place] == [("sid_in", "sid_out")]


@EVERY
def test_the_callers_memory_is_left_alone_where_that_helps_nothing(algorithm: str) -> None:
    program, pools = _ported(_io(chain([64, 64]), 16, 8), outputs=True, inputs=True)
    made = plan(program, algorithm=algorithm, pools=pools)
    assert _in(made, "inputs.input") == {"sid_in": 0}
    assert _in(made, "outputs.output") == {"sid_out": 0}
    assert made.peak == plan(_io(chain([64, 64]), 16, 8), algorithm=algorithm).peak


def _lagging(lag: int) -> Program:
    builder = Builder().call(["input"], {"a": 600}, in_place=[(0, 0, lag)])
    return _io(builder.call(["a"], ["output"]).build(), 640, 8)


def _consumed(program: Program, before: int = 0) -> MemoryPlan:
    ported, pools = _ported(program, inputs=True, before=before)
    return plan(ported, pools=pools)


def test_a_lag_needs_bytes_in_front_of_the_input() -> None:
    assert _consumed(_lagging(20)).peak == 600
    made = _consumed(_lagging(20), before=32)
    assert made.peak == 32  # 20, rounded up to the alignment
    (pool,) = made.port_pools
    assert (pool.before, pool.nbytes) == (32, 672)
    assert _in(made, pool.name) == {"sid_in": 32, "a": 0}
    assert _consumed(_lagging(20), before=31).peak == 600
    assert _consumed(_lagging(0)).peak == 0


def test_lags_do_not_add_up_where_one_is_left_out() -> None:
    builder = Builder().call(["input"], {"a": 300}, in_place=[(0, 0, 16)])
    builder.call(["a"], {"b": 320}, in_place=[(0, 0, 200)])
    program = _io(builder.call(["b"], ["output"]).build(), 640, 8)
    assert _consumed(program, before=16).peak == 16


@pytest.mark.parametrize(("kind", "scratch"), [(WORDS, 0), (INT8, 64)])
def test_an_output_of_bytes_holds_nothing_that_needs_alignment(
    kind: ArrayType, scratch: int
) -> None:
    builder = Builder().call(["input"], {"a": 64 - scratch}, scratch=scratch)
    program = _io(builder.call(["a"], ["output"]).build(), 640, 640, kind)
    ported, pools = _ported(program, outputs=True)
    made = plan(ported, pools=pools)
    assert _in(made, "outputs.output") == {"sid_out": 0}


def test_variables_are_not_the_callers() -> None:
    builder = Builder().variable("v", 64).call(["input", "v"], {"a": 8}).call(["a"], ["output"])
    program, pools = _ported(_io(builder.build(), 640, 640), outputs=True, inputs=True)
    assert "v" in _in(plan(program, pools=pools), "global_workspace")


@quick
@given(programs(), st.sampled_from([0, 20, 90]), st.sampled_from([0, 20, 90]), st.integers(0, 64))
def test_plans_hold_and_never_need_more(
    program: Program, given_bytes: int, made_bytes: int, before: int
) -> None:
    plain = _io(program, given_bytes, made_bytes)
    changed_program, pools = _ported(plain, outputs=True, inputs=True, before=before)
    made = plan(changed_program, pools=pools)  # which checks itself
    assert made.lower_bound <= made.peak <= plan(plain).peak
    for pool in made.port_pools:
        assert pool.nbytes - pool.before in (given_bytes, made_bytes)


@pytest.fixture
def made() -> tuple[Program, MemoryPlan]:
    program, pools = _ported(AUTOENCODER, outputs=True)
    return program, plan(program, pools=pools)


def test_the_check_finds_a_tensor_moved_onto_the_live_output(
    made: tuple[Program, MemoryPlan],
) -> None:
    program, found = made
    broken = changed(found, "sid_5", pool="outputs.output", offset=0)
    assert any("overlap while both are live" in text for text in check.problems(program, broken))


def test_the_check_finds_an_output_that_is_not_at_its_start(
    made: tuple[Program, MemoryPlan],
) -> None:
    program, found = made
    text = check.problems(program, changed(found, "sid_out", offset=16))
    assert "sid_out is not at 0 of outputs.output" in text


def test_the_check_finds_a_pool_of_another_size(made: tuple[Program, MemoryPlan]) -> None:
    program, found = made
    pools = tuple(replace(p, nbytes=656) if p.port else p for p in found.pools)
    text = check.problems(program, replace(found, pools=pools))
    assert "outputs.output has 656 bytes, which are not the port's" in text


def test_the_check_finds_what_needs_more_alignment(made: tuple[Program, MemoryPlan]) -> None:
    program, found = made
    calls = tuple(replace(call, types=(WORDS,) * len(call.args)) for call in program.calls)
    text = check.problems(replace(program, calls=calls), found)
    assert "sid_0 needs 4 bytes of alignment in outputs.output" in text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"executor": "graph", "input_consumed": True}, "--input-consumed: the graph itself has"),
        ({"executor": "graph", "output_workspace": True}, "--output-workspace: the graph itself"),
        ({"workspace_io": True, "output_overlay": True}, "--output-overlay: inputs and outputs"),
        ({"interface": "packed", "output_workspace": True}, "--output-workspace: operators take"),
        (
            {"interface": "packed", "unpacked_api": True, "input_consumed": True},
            "--input-consumed: packed arguments are tensors",
        ),
        ({"input_headroom": 64}, "--input-headroom: is for inputs that may be overwritten"),
        ({"output_overlay": True, "output_workspace": False}, "--output-workspace: an output in"),
    ],
)
def test_options_that_nothing_could_keep_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        Options(**options)


@pytest.mark.parametrize(
    ("options", "is_used"),
    [
        ({"optimize": "ram"}, True),
        ({"optimize": "ram", "output_workspace": False}, False),
        ({"optimize": "ram", "pool": ("a:*",)}, False),
        ({"optimize": "ram", "workspace_io": True}, False),
        ({"optimize": "ram", "executor": "graph"}, False),
        ({"optimize": "ram", "interface": "packed"}, False),
        ({"optimize": "ram", "interface": "packed", "unpacked_api": True}, True),
        ({}, False),
        ({"output_workspace": True}, True),
    ],
)
def test_outputs_hold_tensors_where_ram_is_the_goal(options: dict[str, Any], is_used: bool) -> None:
    assert Options(**options).uses_outputs is is_used
