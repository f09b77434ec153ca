"""Inputs that are fed in rows: the first function of every schedule gets them, and what cannot be
fed is refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from microgen.base.errors import UnsupportedError
from microgen.compiler import lowering
from microgen.compiler.codegens import registry
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Schedule, certificate, choose, explore, file
from microgen.compiler.schedule.division import MOST_LAYERS, ROWS, pieces
from microgen.compiler.schedule.options import space
from microgen.graph.ir.graph import Graph
from microgen.options import Options
from microgen.planner.program.types import Program
from tests.compiler.schedule.costs import M4, no_ram, parts_of
from tests.support.graphs import Builder

HEIGHT = 9
GOALS = ("speed", "balanced", "ram", "flash")


def chain() -> Graph:
    """A convolution, a depthwise one, a 1x1 one, and a dense layer."""
    b = Builder()
    data = b.depthwise(b.conv(b.input(1, HEIGHT, 8, 4), 8))
    return b.graph(b.dense(b.conv(data, 4, 1), 3))


def fed(graph: Graph, rows: int) -> Partition:
    return replace(parts_of(graph), fed=rows)


def chosen(parts: Partition, goal: str = "ram") -> Schedule:
    return choose(parts, M4.cpu, goal, no_ram)


def lowered(made: Schedule) -> Program:
    names = made.partition.graph.outputs
    return lowering.lower(made.partition, registry(), M4, module="m", output_names=names)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("rows", [1, 2, 4, HEIGHT])
def test_the_first_function_gets_the_rows_whatever_the_goal(goal: str, rows: int) -> None:
    made = chosen(fed(chain(), rows), goal)
    assert made.partition.regions[0].fed == rows
    assert not any(region.fed for region in made.partition.regions[1:])
    feed = lowered(made).feed
    assert feed is not None
    assert (feed.rows, feed.height, feed.row_bytes) == (rows, HEIGHT, 8 * 4)
    assert (feed.count - 1) * rows < HEIGHT <= feed.count * rows


def test_the_callers_buffer_has_the_rows_only() -> None:
    whole, in_rows = (lowered(chosen(fed(chain(), rows))) for rows in (0, 2))
    assert whole.io_bytes - in_rows.io_bytes == (HEIGHT - 2) * 8 * 4


def test_a_model_that_is_not_fed_has_no_feed() -> None:
    assert lowered(chosen(fed(chain(), 0))).feed is None


@pytest.mark.parametrize("rows", [1, 2, 3, HEIGHT])
def test_no_division_needs_less_than_the_certificate(rows: int) -> None:
    parts = fed(chain(), rows)
    divided = pieces(space(parts, M4.cpu, prefers_shared=False), M4.cpu)
    assert 0 < certificate.bound(parts, M4.cpu, ROWS, MOST_LAYERS) <= divided.least().nbytes


def test_every_schedule_of_the_front_is_fed() -> None:
    front = explore(fed(chain(), 2), M4.cpu, no_ram)
    assert front.found
    for one in front.found:
        assert one.schedule.partition.regions[0].fed == 2


def test_a_schedule_from_a_file_is_fed_as_the_options_say() -> None:
    given = file.record(chosen(fed(chain(), 2)))
    assert file.applied(given, fed(chain(), 3), M4.cpu).partition.regions[0].fed == 3
    assert file.applied(given, fed(chain(), 0), M4.cpu).partition.regions[0].fed == 0


def test_a_schedule_without_rows_cannot_be_fed() -> None:
    given = file.record(chosen(fed(chain(), 0), "speed"))
    with pytest.raises(UnsupportedError, match="no function computes"):
        file.applied(given, fed(chain(), 2), M4.cpu)


def _two_inputs() -> Graph:
    b = Builder()
    return b.graph(b.add(b.input(1, 4, 4, 2), b.input(1, 4, 4, 2)))


def _dense() -> Graph:
    b = Builder()
    return b.graph(b.dense(b.input(1, 12), 3))


def _softmax() -> Graph:
    b = Builder()
    return b.graph(b.softmax(b.input(1, 4, 4, 2)))


def _read_later() -> Graph:
    """The second layer cannot be computed in rows, and a later one reads the input again."""
    b = Builder()
    data = b.input(1, 4, 4, 2)
    return b.graph(b.add(b.softmax(b.conv(data, 2)), data))


@pytest.mark.parametrize(
    ("graph", "rows", "why"),
    [
        (_two_inputs, 1, "2 inputs"),
        (_dense, 1, "has no rows"),
        (_softmax, 1, "cannot be computed row by row"),
        (_read_later, 1, "cannot be computed row by row"),
        (chain, HEIGHT + 1, f"more than the {HEIGHT}"),
    ],
)
def test_what_cannot_be_fed_is_refused(graph: Callable[[], Graph], rows: int, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why) as caught:
        chosen(fed(graph(), rows))
    assert caught.value.where == "--input-rows"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"executor": "graph"}, "--executor"),
        ({"interface": "packed"}, "--interface"),
        ({"workspace_io": True}, "--workspace-io"),
        ({"input_consumed": True}, "--input-consumed"),
        ({"output_overlay": True}, "--output-overlay"),
        ({"targets": ("npu0",)}, "--target"),
    ],
)
def test_options_that_take_whole_inputs_are_refused(more: dict[str, object], why: str) -> None:
    with pytest.raises(UnsupportedError, match=why) as caught:
        Options(input_rows=2, **more)  # type: ignore[arg-type]
    assert caught.value.where == "--input-rows"
