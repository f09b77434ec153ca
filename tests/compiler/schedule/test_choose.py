"""The choice of implementations by cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Schedule, choose, explore
from microgen.compiler.schedule.options import space
from microgen.compiler.schedule.search import _gathered, fastest
from microgen.compiler.schedule.state import RamOf, Worth
from microgen.planner.program.ram import Ram
from microgen.target import board as boards
from tests.compiler.schedule.costs import (
    M4,
    Costs,
    costs,
    no_ram,
    parts_of,
    separable,
    two_convolutions,
)

__all__ = ["costs"]

M3 = boards.load("mps2_an385")
FAST, SMALL = "mg_conv2d_s8_dsp", "mg_conv2d_s8_portable"
POINTWISE = "mg_conv2d_1x1_s8_dsp"
KNOWN = {FAST: (100, 400, 500), SMALL: (300, 250, 300), POINTWISE: (80, 300, 350)}


def chosen(goal: str, ram_of: RamOf = no_ram) -> Schedule:
    return choose(parts_of(two_convolutions()), M4.cpu, goal, ram_of)


def picked(schedule: Schedule) -> list[tuple[str, bool]]:
    regions = schedule.partition.regions
    return [(c.symbol, c.is_shared) for region in regions for c in region.choices]


def test_speed_takes_the_fewest_cycles_wherever_they_stand(
    costs: Callable[[Costs], None],
) -> None:
    costs(KNOWN)
    made = chosen("speed")
    assert picked(made) == [(FAST, False), (POINTWISE, False), (POINTWISE, False)]
    assert (made.score.cycles, made.score.unmeasured) == (260, 0)
    costs({**KNOWN, SMALL: (50, 250, 300)})
    assert picked(chosen("speed")) == [(SMALL, False)] * 3


def test_flash_counts_an_out_of_line_form_once(costs: Callable[[Costs], None]) -> None:
    costs(KNOWN)
    made = chosen("flash")
    assert picked(made) == [(SMALL, True)] * 3
    assert made.score.flash == 3 * 20 + 300 + constants_of(made)


def constants_of(made: Schedule) -> int:
    graph = made.partition.graph
    weights = sum(array.nbytes for array in graph.constants.values())
    tables = sum(5 * graph.types[n.outputs[0]].shape[3] for n in graph.nodes)
    return weights + tables


def test_ram_takes_what_needs_less_memory(costs: Callable[[Costs], None]) -> None:
    """On a core with MVE the general convolution has scratch; the one without it is slower."""
    board = boards.load("mps3_an547")
    mve = "mg_conv2d_s8_mve"
    costs({mve: (10, 400, 400), "mg_conv2d_1x1_s8_mve": (11, 1, 1), SMALL: (90, 400, 400)})

    def ram_of(parts: Partition, _worth: Worth) -> Ram:
        symbols = {c.symbol for region in parts.regions for c in region.choices}
        return Ram(200, least=150) if mve in symbols else Ram(100, least=80)

    parts = parts_of(two_convolutions(), board)
    assert {s for s, _ in picked(choose(parts, board.cpu, "speed", ram_of))} == {mve}
    made = choose(parts, board.cpu, "ram", ram_of)
    assert mve not in {s for s, _ in picked(made)}


@pytest.mark.parametrize(("more", "takes"), [(10, True), (100, False)])
def test_balanced_gives_ram_for_cycles_at_the_same_rate(
    more: int, takes: bool, costs: Callable[[Costs], None]
) -> None:
    """Two of the three convolutions can be computed in half the cycles, with scratch."""
    board = boards.load("mps3_an547")
    mve = "mg_conv2d_s8_mve"
    costs({mve: (100, 400, 400), SMALL: (150, 400, 400)})

    def ram_of(parts: Partition, _worth: Worth) -> Ram:
        symbols = {c.symbol for region in parts.regions for c in region.choices}
        return Ram(100 + more, least=80) if mve in symbols else Ram(100, least=80)

    made = choose(parts_of(two_convolutions(), board), board.cpu, "balanced", ram_of)
    assert (mve in {s for s, _ in picked(made)}) is takes


def test_balanced_gives_cycles_for_flash_at_the_same_rate(costs: Callable[[Costs], None]) -> None:
    few = constants_of(chosen("speed"))
    costs({FAST: (1000, few, few), SMALL: (1001, few // 2, few), POINTWISE: (1000, few, few)})
    assert (SMALL, False) in picked(chosen("balanced"))
    costs({FAST: (1000, few, few), SMALL: (9000, few // 2, few), POINTWISE: (1000, few, few)})
    assert (SMALL, False) not in picked(chosen("balanced"))


def test_balanced_compares_code_with_code(costs: Callable[[Costs], None]) -> None:
    """A tenth more cycles is worth a third of the code, however many constants all choices need."""
    half = (1100, 2000, 100_000)
    costs({FAST: (1000, 4000, 100_000), SMALL: half, POINTWISE: half})
    graph = two_convolutions(filters=400)
    made = choose(parts_of(graph), M4.cpu, "balanced", no_ram)
    assert constants_of(made) > 100_000
    assert FAST not in {symbol for symbol, _ in picked(made)}


def test_one_function_for_all_layers_is_tried_at_once(costs: Callable[[Costs], None]) -> None:
    """No smaller change is better: each layer that keeps its own function needs its bytes."""
    costs({SMALL: (100, 4000, 2500), "mg_conv2d_1x1_s8_portable": (90, 4000, 100_000)})
    made = choose(parts_of(two_convolutions(), M3), M3.cpu, "balanced", no_ram)
    assert picked(made) == [(SMALL, True)] * 3


def test_what_is_gathered_leaves_patterns_and_other_layers() -> None:
    found = space(parts_of(separable()), M4.cpu, prefers_shared=False)
    pair = found.joint[0]
    depthwise, pointwise = (node.outputs[0] for node in pair.nodes)
    shared = next(option for option in found.single[pointwise] if option.is_shared)
    gather = partial(_gathered, {pointwise: [shared]})
    first = fastest(found)
    assert gather(first) == {pointwise: shared}
    assert gather(first.after(dict.fromkeys((depthwise, pointwise), pair))) == {}


def test_the_reason_quotes_the_numbers_of_the_others(costs: Callable[[Costs], None]) -> None:
    costs(KNOWN)
    (first, *_) = chosen("speed").partition.regions
    reason = first.choices[0].reason
    assert reason.startswith(f"--optimize speed: {FAST} 100 cycles, 400 B of code; ")
    assert f"{SMALL} 300 cycles, 250 B of code" in reason


def test_without_costs_the_first_that_fits_is_taken(costs: Callable[[Costs], None]) -> None:
    costs({})
    made = chosen("speed")
    assert [symbol for symbol, _ in picked(made)] == [FAST, POINTWISE, POINTWISE]
    assert made.score.unmeasured == 3
    assert {shared for _, shared in picked(chosen("flash"))} == {True}


@pytest.mark.parametrize("goal", ["speed", "balanced", "ram", "flash"])
def test_equal_inputs_give_equal_schedules(goal: str, costs: Callable[[Costs], None]) -> None:
    costs(KNOWN)
    assert picked(chosen(goal)) == picked(chosen(goal))


def test_the_front_has_what_no_other_beats(costs: Callable[[Costs], None]) -> None:
    costs(KNOWN)
    front = explore(parts_of(two_convolutions()), M4.cpu, no_ram)
    axes = [(one.ram.arena_io, one.score.cycles, one.score.flash) for one in front.found]
    assert len(set(axes)) == len(axes) > 1
    for one in axes:
        covers = [o for o in axes if o != one and all(a <= b for a, b in zip(o, one, strict=True))]
        assert not covers
    assert [a[1] for a in axes] == sorted(a[1] for a in axes)
    assert set().union(*(one.goals for one in front.found)) == {"speed", "balanced", "ram", "flash"}
    assert front.considered >= len(axes)
