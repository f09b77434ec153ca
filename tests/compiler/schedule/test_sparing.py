"""``speed`` takes much more RAM than ``balanced`` only for a gain, or if a budget allows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Schedule, choose, explore
from microgen.compiler.schedule.state import Worth
from microgen.planner.program.ram import Ram
from microgen.target import board as boards
from tests.compiler.schedule.costs import Costs, costs, parts_of, separable

__all__ = ["costs"]

M55 = boards.load("mps3_an547")
DEPTHWISE, LARGE, SMALL = "mg_depthwise_conv2d_s8_mve", "mg_conv2d_s8_mve", "mg_conv2d_s8_portable"


def symbols(schedule: Schedule) -> set[str]:
    return {c.symbol for region in schedule.partition.regions for c in region.choices}


def ram_of(more: int) -> Callable[[Partition, Worth], Ram]:
    """The faster of two kernels takes more RAM."""

    def found(parts: Partition, _worth: Worth) -> Ram:
        used = {c.symbol for region in parts.regions for c in region.choices}
        return Ram(100 + more, least=80) if LARGE in used else Ram(100, least=80)

    return found


@pytest.mark.parametrize(
    ("more", "cycles", "takes"),
    [(50, 60, True), (51, 60, False), (51, 45, True), (51, 46, False), (900, 45, True)],
)
def test_half_more_ram_needs_a_gain_of_a_twentieth(
    more: int, cycles: int, takes: bool, costs: Callable[[Costs], None]
) -> None:
    """The two layers take 1,000 and 100 cycles; with more RAM the second takes fewer."""
    costs({DEPTHWISE: (1000, 4000, 4000), LARGE: (cycles, 400, 400), SMALL: (100, 400, 400)})
    parts = parts_of(separable(), M55)
    made = choose(parts, M55.cpu, "speed", ram_of(more))
    assert (LARGE in symbols(made)) is takes
    front = explore(parts, M55.cpu, ram_of(more))
    (chosen,) = (one.schedule for one in front.found if "speed" in one.goals)
    assert symbols(chosen) == symbols(made)


def test_a_budget_lets_speed_take_the_ram(costs: Callable[[Costs], None]) -> None:
    costs({DEPTHWISE: (1000, 4000, 4000), LARGE: (60, 400, 400), SMALL: (100, 400, 400)})
    parts = parts_of(separable(), M55)
    assert LARGE in symbols(choose(parts, M55.cpu, "speed", ram_of(900), spares=False))
    assert LARGE not in symbols(choose(parts, M55.cpu, "speed", ram_of(900)))
    # The other goals are as they were.
    assert LARGE not in symbols(choose(parts, M55.cpu, "balanced", ram_of(900)))


def test_what_is_fastest_within_the_limit_is_taken(costs: Callable[[Costs], None]) -> None:
    """``balanced`` gives cycles for flash, which ``speed`` does not."""
    short = "mg_conv2d_1x1_s8_portable"
    costs(
        {
            DEPTHWISE: (1000, 4000, 4000),
            LARGE: (60, 400, 400),
            SMALL: (100, 400, 400),
            short: (90, 90_000, 90_000),
        }
    )
    parts = parts_of(separable(), M55)
    assert SMALL in symbols(choose(parts, M55.cpu, "balanced", ram_of(900)))
    assert short in symbols(choose(parts, M55.cpu, "speed", ram_of(900)))
