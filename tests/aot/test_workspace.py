"""Workspace and constants of Relay networks: sizes, alignments, pools, and live bytes at calls."""

from __future__ import annotations

import re

import pytest

from microgen import relay
from microgen.base.errors import MicrogenError
from microgen.planner import timeline
from microgen.project.firmware.compiled import Compiled
from microgen.relay import Expr, Function, IRModule, Var
from tests.aot.native import compiled
from tests.aot.networks import residual

HEADER = "model/codegen/host/include/tvmgen_default.h"
LIB0, PARAMS = (f"model/codegen/host/src/default_{name}.c" for name in ("lib0", "params"))


def _residual() -> IRModule:
    return residual().bound()


@pytest.fixture(scope="module")
def plain() -> Compiled:
    return compiled(_residual())


@pytest.mark.parametrize("planner", ["on-demand", "greedy", "optimal"])
@pytest.mark.parametrize("alignment", [8, 16, 256])
def test_the_workspace_is_what_the_header_the_metadata_and_the_plan_say(
    alignment: int, planner: str
) -> None:
    made = compiled(_residual(), planner=planner, alignment=alignment)
    peak = made.plan.peak
    assert all(p.offset % alignment == 0 for p in made.plan.placements)
    assert made.metadata.workspace_size_bytes == peak
    header = made.files.files[HEADER].decode()
    assert f"#define TVMGEN_DEFAULT_WORKSPACE_SIZE {peak}\n" in header
    assert made.plan.lower_bound <= peak


def test_an_alignment_that_c_does_not_allow_is_refused() -> None:
    with pytest.raises(
        MicrogenError, match=r"--alignment: an alignment of 1 is too small for .*float32"
    ):
        compiled(_residual(), alignment=1)


def test_planners_need_what_is_known() -> None:
    """A tensor has 2,592 bytes. Three are live at once: at the last convolution or before its
    sum."""
    sizes = {
        planner: compiled(_residual(), planner=planner).plan.peak
        for planner in ("on-demand", "greedy", "optimal")
    }
    assert sizes["on-demand"] > sizes["greedy"] >= sizes["optimal"]
    assert sizes["optimal"] == compiled(_residual()).plan.lower_bound


@pytest.mark.parametrize("alignment", [8, 16, 32])
def test_constants_are_aligned_as_asked(alignment: int) -> None:
    source = compiled(_residual(), constant_alignment=alignment).files.files[PARAMS].decode()
    assert f'__attribute__((section(".rodata.tvm"), aligned({alignment})))' in source


def test_the_planner_is_on_without_being_asked_for(plain: Compiled) -> None:
    assert plain.plan.algorithm == "optimal"
    assert plain.plan.peak < sum(p.nbytes for p in plain.plan.placements)


def test_one_external_pool_is_the_callers_and_its_size_is_a_macro(plain: Compiled) -> None:
    made = compiled(_residual(), pool=("my_memory_pool:*:external",))
    header = made.files.files[HEADER].decode()
    owed = f"#define TVMGEN_DEFAULT_MY_MEMORY_POOL_WORKSPACE_POOL_SIZE {plain.plan.peak}\n"
    assert owed in header
    assert re.search(r"workspace_pools \{\n    void \*my_memory_pool;", header)
    assert not [name for name in made.files.files if name.endswith("_memory.S")]


def test_constants_may_be_the_callers_too() -> None:
    made = compiled(_residual(), pool=("fast:*:external", "my_const_pool_1:*:external:const"))
    header = made.files.files[HEADER].decode()
    size = sum(c.array.nbytes for c in made.program.constants)
    assert f"#define TVMGEN_DEFAULT_MY_CONST_POOL_1_CONSTANT_POOL_SIZE {size}\n" in header
    assert "#define TVMGEN_DEFAULT_MY_CONST_POOL_1_CONSTANT_POOL_DATA \\\n" in header
    assert "const float" not in made.files.files[PARAMS].decode()


def test_what_the_first_pool_cannot_hold_spills_to_the_second() -> None:
    made = compiled(_residual(), pool=("one:6000:external", "two:*:external"))
    used = {pool.name: pool.nbytes for pool in made.plan.pools}
    assert used["one"] <= 6000
    assert used["two"] > 0
    header = made.files.files[HEADER].decode()
    for name, nbytes in used.items():
        assert f"#define TVMGEN_DEFAULT_{name.upper()}_WORKSPACE_POOL_SIZE {nbytes}\n" in header


@pytest.mark.parametrize("pools", [("one:*:external",), ("one:6000:external", "two:*:external")])
def test_inputs_and_outputs_may_lie_in_the_callers_pools(pools: tuple[str, ...]) -> None:
    made = compiled(_residual(), pool=pools, workspace_io=True)
    header = re.sub(r"\s+", " ", made.files.files[HEADER].decode())
    for kind in ("inputs", "outputs"):
        assert f"struct tvmgen_default_{kind} tvmgen_default_map_{kind}( struct " in header
    assert "int32_t tvmgen_default_run( struct tvmgen_default_workspace_pools *" in header


def test_a_workspace_for_inputs_and_outputs_needs_the_c_interface() -> None:
    with pytest.raises(MicrogenError, match="--workspace-io: packed arguments are tensors"):
        compiled(_residual(), interface="packed", workspace_io=True)


def _live(params: list[Var], body: Expr) -> tuple[int, ...]:
    """The bytes that are live at each call, inputs and outputs included: TVM's ``used_memory``.
    Each buffer has a place of its own, because in TVM no output takes an input's place."""
    made = compiled(Function(params, body), workspace_io=True, planner="on-demand")
    return timeline.live_bytes(made.program, made.plan)


def test_a_call_uses_its_input_and_its_output() -> None:
    x = relay.var("x", shape=(1, 2, 2, 4), dtype="int8")
    assert _live([x], relay.nn.max_pool2d(x, layout="NHWC")) == (16 + 16,)


def test_each_of_several_calls_uses_its_own() -> None:
    data = relay.var("data", shape=(1, 8, 8, 2), dtype="int8")
    body: Expr = data
    for _ in range(3):
        body = relay.nn.max_pool2d(body, pool_size=(2, 2), layout="NHWC")
    assert _live([data], body) == (128 + 98, 98 + 72, 72 + 50)


def test_bytes_are_counted_by_the_type_of_each_tensor() -> None:
    x = relay.var("x", shape=(1, 2, 2, 2), dtype="int16")
    assert _live([x], relay.cast(x, dtype="int32")) == (16 + 32,)


def test_a_result_that_is_read_later_lives_on_beside_other_calls() -> None:
    x = relay.var("x", shape=(1, 4, 5, 6), dtype="int8")
    left, right = (relay.nn.max_pool2d(x, pool_size=(size, 1), layout="NHWC") for size in (1, 2))
    found = _live([x], relay.concatenate([left, right], axis=1))
    assert found == (120 + 120, 120 + 120 + 90, 120 + 90 + 210)


def test_reshapes_use_no_memory() -> None:
    """TVM counts copies of them."""
    x = relay.var("x", shape=(1, 4, 5, 6), dtype="int8")
    parts = [relay.reshape(x, newshape=(1, 4, 30)) for _ in range(2)]
    assert _live([x], relay.concatenate(parts, axis=0)) == (120 + 240,)


def _pooled(data: Expr, rows: int = 1) -> Expr:
    return relay.nn.max_pool2d(data, pool_size=(rows, 1), layout="NHWC")


def test_branches_and_branches_of_branches_live_until_they_are_joined() -> None:
    x = relay.var("x", shape=(1, 4, 5, 6), dtype="int8")
    branches = [_pooled(x, rows) for rows in (1, 2, 3)]
    assert _live([x], relay.concatenate(branches, axis=1)) == (
        120 + 120,
        120 + 120 + 90,
        120 + 120 + 90 + 60,
        120 + 90 + 60 + 270,
    )
    left, right = _pooled(x), _pooled(x, 2)
    joined = relay.concatenate([left, _pooled(right), _pooled(right, 2)], axis=1)
    assert _live([x], joined) == (
        120 + 120,
        120 + 120 + 90,
        120 + 90 + 90,
        120 + 90 + 90 + 60,
        120 + 90 + 60 + 270,
    )


def test_calls_of_one_function_use_what_lives_at_each() -> None:
    x = relay.var("x", shape=(1, 4, 5, 6), dtype="int8")
    assert _live([x], _pooled(_pooled(x))) == (120 + 120, 120 + 120)
    twice = _pooled(_pooled(x), 2)
    joined = relay.concatenate([twice, twice], axis=1)
    assert _live([x], joined) == (120 + 120, 120 + 90, 90 + 180)
    first = _pooled(x)
    many = [_pooled(first, 2) for _ in range(20)]
    live = _live([x], relay.concatenate(many, axis=1))
    # Two calls join the parts: sixteen of them, then four, when the others are not live any more.
    joining = (20 * 90 * 2, 20 * 90 + 4 * 90)
    assert live == (240, *(120 + 90 * i for i in range(1, 21)), *joining)


def test_a_shape_that_is_not_known_is_refused() -> None:
    text = "def @main(%x: Tensor[(1, 2, 2, ?), int8]) { nn.max_pool2d(%x) }"
    with pytest.raises(MicrogenError, match="Cannot allocate memory symbolic tensor shape"):
        compiled(text)


def test_a_function_inside_a_function_is_counted_by_its_own_tensors() -> None:
    text = """def @main(%x: Tensor[(1, 2, 2, 4), int8]) {
  %2 = fn (%y: Tensor[(1, 2, 2, 4), int8], Primitive=1) {
    %1 = fn (%z: Tensor[(1, 2, 2, 4), int8], Composite="my_composite_func") {
      nn.max_pool2d(%z, pool_size=[2, 2], layout="NHWC")
    };
    %1(%y)
  };
  %2(%x)
}
"""
    made = compiled(text, workspace_io=True, planner="on-demand")
    assert timeline.live_bytes(made.program, made.plan) == (16 + 4,)
