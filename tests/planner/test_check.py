"""The check names what is wrong with plans that were broken by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from microgen.planner import check, plan
from microgen.planner.program.plan import MemoryPlan, Overlap, Placement
from microgen.planner.program.types import Program
from tests.planner.builder import Builder, chain, changed, with_placements


@pytest.fixture
def program() -> Program:
    """A program in which b takes a's place. c, d and a scratch buffer are live at the same time."""
    builder = Builder().call(["input"], {"a": 64}).call(["a"], {"b": 64}, in_place=[(0, 0)])
    builder.call(["b"], {"c": 32}, scratch=16).call(["b", "c"], {"d": 32})
    return builder.call(["d"], ["output"]).build()


@pytest.fixture
def made(program: Program) -> MemoryPlan:
    made = plan(program)
    assert check.problems(program, made) == []
    assert made.in_place == (Overlap("a", "b"),)
    return made


def test_moved_onto_a_live_buffer(program: Program, made: MemoryPlan) -> None:
    broken = changed(made, "c", offset=made.by_name["b"].offset)
    assert "b and c overlap while both are live" in check.problems(program, broken)


def test_scratch_moved_onto_a_live_buffer(program: Program, made: MemoryPlan) -> None:
    broken = changed(made, "scratch_2", offset=made.by_name["c"].offset)
    found = check.problems(program, broken)
    assert any("scratch_2" in text and "overlap" in text for text in found)


def test_moved_off_its_alignment(program: Program, made: MemoryPlan) -> None:
    offset = made.by_name["d"].offset + 4
    broken = changed(made, "d", offset=offset)
    assert f"d has offset {offset}, not a multiple of 16" in check.problems(program, broken)


@pytest.mark.parametrize("offset", [-16, 4096])
def test_moved_out_of_the_pool(program: Program, made: MemoryPlan, offset: int) -> None:
    found = check.problems(program, changed(made, "d", offset=offset))
    assert f"d ends at {offset + 32}, outside global_workspace" in found


@pytest.mark.parametrize("nbytes", [31, 33, 0])
def test_grown_or_shrunk(program: Program, made: MemoryPlan, nbytes: int) -> None:
    found = check.problems(program, changed(made, "d", nbytes=nbytes))
    assert f"d has {nbytes} bytes, expected 32" in found


@pytest.mark.parametrize("name", ["d", "scratch_2"])
def test_dropped(program: Program, made: MemoryPlan, name: str) -> None:
    broken = with_placements(made, [p for p in made.placements if p.name != name])
    assert f"{name} is placed 0 times, expected once" in check.problems(program, broken)


def test_placed_twice(program: Program, made: MemoryPlan) -> None:
    broken = with_placements(made, [*made.placements, made.placements[0]])
    assert "a is placed 2 times, expected once" in check.problems(program, broken)


def test_placed_without_need(program: Program, made: MemoryPlan) -> None:
    extra = Placement("sid_9", "global_workspace", 0, 16, 0, 1)
    broken = with_placements(made, [*made.placements, extra])
    assert "sid_9 is placed, but the program does not use it" in check.problems(program, broken)


@pytest.mark.parametrize("change", [{"first": 5}, {"last": 6}, {"last": 99}])
def test_wrong_lifetime(program: Program, made: MemoryPlan, change: dict[str, int]) -> None:
    lives = {"first": 4, "last": 7} | change
    found = check.problems(program, changed(made, "c", **change))
    assert found == [f"c is live [{lives['first']}, {lives['last']}], expected [4, 7]"]


def test_pair_at_two_addresses(program: Program, made: MemoryPlan) -> None:
    broken = changed(made, "b", offset=made.by_name["b"].offset + 128)
    found = check.problems(program, broken)
    assert "b starts -128 bytes before a, expected 0" in found


def test_pair_that_is_not_declared(program: Program, made: MemoryPlan) -> None:
    found = check.problems(program, replace(made, in_place=()))
    assert "a and b overlap while both are live" in found


def test_pair_that_the_call_does_not_allow(program: Program, made: MemoryPlan) -> None:
    broken = replace(made, in_place=(*made.in_place, Overlap("c", "d")))
    assert "d may not take the place of c" in check.problems(program, broken)


def test_pair_whose_input_is_read_later() -> None:
    builder = Builder().call(["input"], {"a": 8}).call(["a"], {"b": 8}, in_place=[(0, 0)])
    program = builder.call(["a", "b"], ["output"]).build()
    broken = replace(changed(plan(program), "b", offset=0, first=3), in_place=(Overlap("a", "b"),))
    assert "b may not take the place of a" in check.problems(program, broken)


def test_pair_whose_output_is_larger() -> None:
    program = chain([16, 32], in_place=(1,))
    broken = replace(plan(program), in_place=(Overlap("sid_0", "sid_1"),))
    assert "sid_1 may not take the place of sid_0" in check.problems(program, broken)


@pytest.fixture
def lagging() -> Program:
    """A program in which b may begin 20 bytes before a, and is larger."""
    builder = Builder().call(["input"], {"a": 64})
    builder.call(["a"], {"b": 128}, in_place=[(0, 0, 20)])
    return builder.call(["b"], ["output"]).build()


def test_a_growing_output_overlaps_its_input(lagging: Program) -> None:
    made = plan(lagging, alignment=4)
    assert (made.peak, made.lower_bound) == (128, 128)
    assert made.in_place == (Overlap("a", "b", 20),)
    assert [made.by_name[name].offset for name in ("a", "b")] == [20, 0]
    assert plan(lagging, alignment=16).by_name["a"].offset == 32


@pytest.mark.parametrize("offset", [16, 0])
def test_lag_that_is_too_small(lagging: Program, offset: int) -> None:
    made = plan(lagging, alignment=4)
    found = check.problems(lagging, changed(made, "a", offset=offset))
    assert f"b starts {offset} bytes before a, expected 20" in found


def test_lag_that_the_call_does_not_state(lagging: Program) -> None:
    broken = replace(plan(lagging, alignment=4), in_place=(Overlap("a", "b", 16),))
    assert "b has a lag of 16 bytes to a, expected 20" in check.problems(lagging, broken)


def test_a_lag_is_of_no_use_to_a_call_with_two_outputs() -> None:
    builder = Builder().call(["input"], {"a": 64})
    builder.call(["a"], {"b": 64, "c": 16}, in_place=[(0, 0, 4)])
    program = builder.call(["b", "c"], ["output"]).build()
    assert plan(program).in_place == ()
    assert check.lower_bound(program) == 144


def test_pair_of_a_sid_that_another_argument_reads() -> None:
    builder = Builder().call(["input"], {"a": 8}).call(["a", "a"], {"b": 8}, in_place=[(0, 0)])
    program = builder.call(["b"], ["output"]).build()
    broken = replace(plan(program), in_place=(Overlap("a", "b"),))
    assert "b may not take the place of a" in check.problems(program, broken)


def test_buffer_in_two_pairs() -> None:
    builder = Builder().call(["input"], {"a": 8, "b": 8})
    program = builder.call(["a", "b"], {"c": 8}, in_place=[(0, 0), (1, 0)]).build()
    broken = replace(plan(program), in_place=(Overlap("a", "c"), Overlap("b", "c")))
    assert "c is the output of 2 in-place pairs" in check.problems(program, broken)


def test_pair_of_unknown_buffers(program: Program, made: MemoryPlan) -> None:
    found = check.problems(program, replace(made, in_place=(*made.in_place, Overlap("x", "y"))))
    assert "in-place pair x, y names a buffer that the program does not use" in found


@pytest.mark.parametrize("more", [16, -16])
def test_pool_of_another_size(program: Program, made: MemoryPlan, more: int) -> None:
    nbytes = made.peak + more
    broken = replace(made, pools=(replace(made.pools[0], nbytes=nbytes),))
    expected = f"global_workspace has {nbytes} bytes, but its last buffer ends at {made.peak}"
    assert expected in check.problems(program, broken)


def test_unknown_pool(program: Program, made: MemoryPlan) -> None:
    found = check.problems(program, changed(made, "d", pool="elsewhere"))
    assert "d lies in elsewhere, which is not a pool of the plan" in found


@pytest.mark.parametrize("more", [1, -1])
def test_wrong_bound(program: Program, made: MemoryPlan, more: int) -> None:
    found = check.problems(program, replace(made, lower_bound=made.lower_bound + more))
    assert found == [f"lower bound is {made.lower_bound + more}, expected {made.lower_bound}"]


def test_index_that_is_not_true(program: Program, made: MemoryPlan) -> None:
    found = check.problems(program, replace(made, by_name={}))
    assert found == ["by_name does not say what the placements say"]


def test_program_that_reads_what_nothing_wrote(made: MemoryPlan) -> None:
    program = Builder({"a": 8}).call(["a"], ["output"]).build()
    assert "a is read by call 0 before it is written" in check.problems(program, made)


def test_lower_bound_counts_the_larger_saving() -> None:
    builder = Builder().call(["input"], {"a": 30, "b": 30})
    builder.call(["a", "b"], {"c": 10, "d": 20}, in_place=[(0, 0), (0, 1)])
    assert check.lower_bound(builder.build()) == 70


def test_check_shares_no_code_with_the_planners() -> None:
    ours = {
        getattr(value, "__module__", None) or getattr(value, "__name__", "")
        for value in vars(check).values()
    }
    ours = {name for name in ours if name.startswith("microgen")}
    program = {f"microgen.planner.program.{name}" for name in ("kernel_call", "plan", "types")}
    assert ours <= {"microgen.planner.check", "microgen.base.errors", *program}


@pytest.fixture
def stateful() -> Program:
    builder = Builder().variable("state", 32)
    builder.call(["input"], {"a": 64}).call(["a", "state"], {"b": 32}, in_place=[(1, 0)])
    return builder.call(["b"], ["output"]).build()


def test_state_under_a_buffer_that_lives_when_no_call_touches_it(stateful: Program) -> None:
    made = plan(stateful)
    assert check.problems(stateful, made) == []
    broken = changed(made, "state", offset=made.by_name["a"].offset)
    assert "state and a overlap while both are live" in check.problems(stateful, broken)


def test_state_that_is_planned_to_end(stateful: Program) -> None:
    broken = changed(plan(stateful), "state", first=2, last=3)
    assert "state is live [2, 3], expected [0, 7]" in check.problems(stateful, broken)


def test_state_that_an_output_replaces(stateful: Program) -> None:
    broken = replace(plan(stateful), in_place=(Overlap("state", "b"),))
    assert "b may not take the place of state" in check.problems(stateful, broken)
