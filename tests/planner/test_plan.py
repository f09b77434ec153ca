"""Plans of programs whose best plan is known."""

from __future__ import annotations

from itertools import pairwise

import pytest

from microgen.base.errors import InternalError, MicrogenError
from microgen.planner import ALGORITHMS, check, plan
from microgen.planner.program.plan import Overlap
from tests.planner.builder import Builder, chain

KWS = (*[8000] * 9, 64, 12)
# Depthwise and pointwise outputs of a MobileNet v1 (width 0.25, 96 x 96), with one halo each.
VWW = (18432, 18432, 36864, 9216, 18432, 18432, 18432, 4608, 9216, 9216, 9216, 2304, 4608, 256, 2)
AD = (128, 128, 128, 128, 8, 128, 128, 128, 128)


@pytest.mark.parametrize("sizes", [KWS, VWW, AD, (16, 1), (16,), (8000, 8000)])
@pytest.mark.parametrize("alignment", [1, 16])
def test_a_chain_needs_its_largest_neighbours(sizes: tuple[int, ...], alignment: int) -> None:
    made = plan(chain(sizes), alignment=alignment)
    expected = max(map(sum, pairwise(sizes)), default=sizes[0])
    assert made.peak == made.lower_bound == expected
    assert made.proof == "optimal for this schedule"


def test_a_residual_network_adds_in_place() -> None:
    made = plan(_resnet(in_place=True))
    assert made.peak == made.lower_bound == 3 * 16384
    assert Overlap("b0_conv1", "b0_add") in made.in_place


def _resnet(*, in_place: bool):
    builder = Builder().call(["input"], {"x0": 16384})
    skip = "x0"
    for b, size in enumerate((16384, 8192, 4096)):
        builder.call([skip], {f"b{b}_conv0": size})
        builder.call([f"b{b}_conv0"], {f"b{b}_conv1": size})
        if b:
            builder.call([skip], {f"b{b}_skip": size})
            skip = f"b{b}_skip"
        operands = [f"b{b}_conv1", skip]
        pairs = [(0, 0), (1, 0)] if in_place else []
        builder.call(operands, {f"b{b}_add": size}, in_place=pairs)
        skip = f"b{b}_add"
    return builder.call([skip], {"pool": 64}).call(["pool"], ["output"]).build()


def test_a_residual_network_out_of_place() -> None:
    made = plan(_resnet(in_place=False))
    assert made.peak == made.lower_bound == 3 * 16384
    assert made.in_place == ()


def test_in_place_chain_shares_one_address() -> None:
    made = plan(chain([100, 100, 100], in_place=(1, 2)))
    assert made.in_place == (Overlap("sid_0", "sid_1"), Overlap("sid_1", "sid_2"))
    assert {p.offset for p in made.placements} == {0}
    assert made.peak == made.lower_bound == 100
    assert [(p.first, p.last) for p in made.placements] == [(0, 2), (3, 4), (5, 7)]


def test_bytes_after_a_smaller_in_place_output_are_free_again() -> None:
    builder = Builder().call(["input"], {"a": 64})
    builder.call(["a"], {"b": 16}, in_place=[(0, 0)])
    builder.call(["b"], {"c": 48}).call(["b", "c"], ["output"])
    assert plan(builder.build()).peak == 64


def test_a_larger_output_is_not_in_place() -> None:
    made = plan(chain([16, 17], in_place=(1,)), alignment=1)
    assert made.in_place == ()
    assert made.peak == 33


def test_an_input_that_is_read_again_is_not_in_place() -> None:
    builder = Builder().call(["input"], {"a": 8}).call(["a"], {"b": 8}, in_place=[(0, 0)])
    assert plan(builder.call(["a", "b"], ["output"]).build()).in_place == ()


@pytest.mark.parametrize(("listed", "pairs"), [(((0, 0), (1, 0)), 1), (((0, 0),), 0)])
def test_a_sid_passed_twice_needs_both_arguments_listed(
    listed: tuple[tuple[int, int], ...], pairs: int
) -> None:
    builder = Builder().call(["input"], {"a": 8}).call(["a", "a"], {"b": 8}, in_place=listed)
    assert len(plan(builder.call(["b"], ["output"]).build()).in_place) == pairs


def test_what_is_not_a_sid_is_not_planned() -> None:
    program = Builder().call(["input", "constant"], ["output"], in_place=[(0, 0)]).build()
    made = plan(program)
    assert made.placements == ()
    assert made.peak == made.lower_bound == 0


def test_scratch_lives_during_its_call() -> None:
    builder = Builder().call(["input"], {"a": 32}).call(["a"], {"b": 16}, scratch=40)
    made = plan(builder.call(["b"], ["output"]).build())
    scratch = made.by_name["scratch_1"]
    assert (scratch.nbytes, scratch.first, scratch.last) == (40, 2, 3)
    assert made.peak == made.lower_bound == 88


def test_a_result_that_nobody_reads_lives_for_its_call() -> None:
    program = Builder().call(["input"], {"a": 8}).call(["input"], {"b": 8}).build()
    made = plan(program)
    assert [(p.first, p.last) for p in made.placements] == [(0, 1), (2, 3)]
    assert made.peak == 8


def test_on_demand_shares_nothing() -> None:
    made = plan(chain([10, 20, 30], in_place=(1, 2)), algorithm="on-demand")
    assert [p.offset for p in made.placements] == [0, 16, 48]
    assert made.peak == 78
    assert made.in_place == ()
    assert made.proof == "no reuse: 28 bytes above the bound"


def test_rounding_is_a_gap_that_is_proven() -> None:
    builder = Builder().call(["input"], {"a": 5}).call(["a"], {"b": 5})
    made = plan(builder.call(["b"], ["output"]).build(), alignment=16)
    assert (made.peak, made.lower_bound, made.gap) == (21, 10, 11)
    assert made.proof == "optimal for this schedule: search exhausted"


def test_greedy_is_not_always_optimal() -> None:
    sizes = [2, 5, 1, 3, 1, 4, 4]
    program = _skipping(sizes)
    made = {name: plan(program, algorithm=name, alignment=1).peak for name in ALGORITHMS}
    assert made["optimal"] < made["greedy"] < made["on-demand"]


def _skipping(sizes: list[int]):
    builder = Builder()
    for i, size in enumerate(sizes):
        reads = [f"s{j}" for j in (i - 2, i - 1) if j >= 0]
        builder.call(reads or ["input"], {f"s{i}": size})
    return builder.call([f"s{len(sizes) - 1}"], ["output"]).build()


def test_a_spent_budget_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from microgen.planner import optimal, repair

    monkeypatch.setattr(optimal, "MOST_NODES", 1)
    monkeypatch.setattr(optimal, "FEWEST_NODES", 1)
    monkeypatch.setattr(repair, "ROUNDS", 0)
    made = plan(_skipping([5, 1, 4, 4, 5, 1, 2]), alignment=1)
    assert made.gap > 0
    assert made.proof == f"node budget of 1 spent: at most {made.gap} bytes above the bound"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_plans_of_an_empty_program(algorithm: str) -> None:
    assert plan(Builder().build(), algorithm=algorithm).peak == 0


def test_unknown_planner() -> None:
    with pytest.raises(MicrogenError, match="no planner 'best'; choose one of on-demand, greedy"):
        plan(chain([1]), algorithm="best")


@pytest.mark.parametrize("alignment", [0, -4, 12])
def test_impossible_alignment(alignment: int) -> None:
    with pytest.raises(MicrogenError, match=f"alignment is {alignment}, expected a power of two"):
        plan(chain([1]), alignment=alignment)


def test_read_before_written() -> None:
    builder = Builder({"a": 8}).call(["a"], ["output"])
    with pytest.raises(InternalError, match="call 0: a: is read before it is written"):
        plan(builder.build())


def test_buffer_that_no_call_uses() -> None:
    with pytest.raises(InternalError, match="a: no call writes it"):
        plan(Builder({"a": 8}).call(["input"], ["output"]).build())


def test_a_faulty_planner_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from microgen.planner.layout import Layout

    monkeypatch.setitem(
        ALGORITHMS, "greedy", lambda _l, _a: Layout({"sid_0": 0, "sid_1": 0}, (), "")
    )
    with pytest.raises(InternalError, match="sid_0 and sid_1 overlap while both are live"):
        plan(chain([8, 8]), algorithm="greedy")


def test_five_hundred_layers_with_skips_come_near_the_bound() -> None:
    builder = Builder().call(["input"], {"s0": 1000})
    for i in range(1, 500):
        reads = [f"s{i - 1}"] + ([f"s{i - 1 - i % 7}"] if i % 3 == 0 and i > 7 else [])
        in_place = [(0, 0)] if i % 5 == 0 else []
        builder.call(reads, {f"s{i}": 200 + 7919 * i % 1801}, in_place=in_place)
    program = builder.call(["s499"], ["output"]).build()
    made = plan(program)
    assert made.gap < made.lower_bound // 50
    assert check.problems(program, made) == []


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_state_shares_its_bytes_with_nothing(algorithm: str) -> None:
    builder = Builder().variable("state", 32)
    builder.call(["input"], {"a": 64}).call(["a", "state"], {"b": 32}, in_place=[(1, 0)])
    program = builder.call(["b"], {"c": 64}).call(["c"], ["output"]).build()
    made = plan(program, algorithm=algorithm)
    state = made.by_name["state"]
    assert (state.first, state.last) == (0, 9)
    assert made.in_place == ()
    for other in (made.by_name[name] for name in "abc"):
        assert other.offset >= state.offset + 32 or other.offset + other.nbytes <= state.offset
    assert made.lower_bound == 128
    assert made.peak == (192 if algorithm == "on-demand" else 128)


def test_state_that_no_call_reads_is_an_error() -> None:
    program = Builder().variable("state", 32).call(["input"], ["output"]).build()
    with pytest.raises(InternalError, match="no call"):
        plan(program)
