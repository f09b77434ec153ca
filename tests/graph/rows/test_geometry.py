"""Geometry of rolling rows, checked by moving the numbers of rows through buffers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgen.graph.rows import geometry
from microgen.graph.rows.geometry import Geometry, Stage
from microgen.graph.rows.windows import RowWindow

PADDING = None
Row = int | None  # the number of a tensor's row, or padding


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Stage], dict[str, int]]:
    """Stages in a line, some of which also read the tensor before the one they continue, as the
    addition of a residual block does; the rows of the input; and the rows at a time."""
    height = draw(st.integers(1, 40))
    heights = {"input": height}
    stages: list[Stage] = []
    before, rows = "input", {"input": height}
    for number in range(draw(st.integers(1, 5))):
        extent, stride = draw(st.integers(1, 6)), draw(st.integers(1, 3))
        above, below = draw(st.integers(0, extent - 1)), draw(st.integers(0, extent + stride))
        places = (rows[before] + above + below - extent) // stride + 1
        if places < 1:
            break
        name = f"layer{number}"
        reads = {before: RowWindow(extent, stride, above)}
        stages.append(Stage(name, places, 1, reads))
        rows[name] = places
        (twice,) = stages[-2].reads if len(stages) > 1 and len(stages[-2].reads) == 1 else ("",)
        is_level = twice and stride == stages[-2].reads[twice].stride == 1
        if is_level and rows[twice] == places and draw(st.booleans()):
            stages.append(Stage(f"sum{number}", places, 1, {name: RowWindow(), twice: RowWindow()}))
            name = f"sum{number}"
            rows[name] = places
        before = name
    return [*_in_rows(draw, stages)][::-1], heights


def _in_rows(draw: st.DrawFn, stages: Sequence[Stage]) -> Iterator[Stage]:
    """The stages with rows at a time that suit what reads them."""
    found: dict[str, int] = {}
    for stage in reversed(stages):
        suits = found.get(stage.result, stage.height)
        each = draw(st.sampled_from([n for n in range(1, 7) if suits % n == 0]))
        found |= {
            name: math.gcd(each * w.stride, found.get(name, 0)) for name, w in stage.reads.items()
        }
        yield replace(stage, rows=each)


@given(chains())
def test_every_window_has_its_rows(given: tuple[list[Stage], dict[str, int]]) -> None:
    stages, heights = given
    if not stages:
        return
    check_windows(stages, heights, geometry.of(stages, heights))


@given(chains(), st.integers(1, 12))
def test_rows_that_are_fed_are_there_in_time(
    given: tuple[list[Stage], dict[str, int]], fed: int
) -> None:
    """Every window has its rows, and the rows that are copied while some are fed are those."""
    stages, heights = given
    if not stages:
        return
    made = geometry.of(stages, heights, {"input": fed})
    check_windows(stages, heights, made)
    timing = made.timings["input"]
    assert timing.first == 0
    assert fed % timing.rows == 0
    steps = fed // timing.rows * timing.period  # while some rows are fed
    for number in range(timing.count):
        assert number * timing.rows // fed == number * timing.period // steps
    assert timing.count * timing.rows >= heights["input"]
    assert made.steps > (timing.count - 1) * timing.period


def check_windows(stages: Sequence[Stage], heights: Mapping[str, int], made: Geometry) -> None:
    """Every stage finds the rows of its windows, and padding outside of its tensors."""
    seen = windows_seen(stages, heights, made)
    for stage in stages:
        for name, window in stage.reads.items():
            whole = heights.get(name) or next(s.height for s in stages if s.result == name)
            for row in range(stage.height):
                first = row * window.stride - window.above
                wanted = [
                    r if 0 <= r < whole else PADDING for r in range(first, first + window.extent)
                ]
                assert seen[stage.result, name][row] == wanted


def windows_seen(
    stages: Sequence[Stage], heights: Mapping[str, int], made: Geometry
) -> dict[tuple[str, str], list[list[Row]]]:
    """For each stage and tensor that it reads, the rows that it finds for each of its rows."""
    held: dict[str, list[Row]] = {n: [PADDING] * b.rows for n, b in made.buffers.items()}
    by_result = {stage.result: stage for stage in stages}
    seen: dict[tuple[str, str], list[list[Row]]] = {}
    for step in range(made.steps):
        for name, timing in made.timings.items():
            times, late = divmod(step - timing.first, timing.period)
            end = made.buffers[name].end if name in made.buffers else timing.end
            if late or times < 0 or step >= max(end, timing.end):
                continue
            first = times * timing.rows
            if name in by_result and times < timing.count:
                _read(by_result[name], first, heights, made, held, seen)
            if name in held:
                whole = heights.get(name) or by_result[name].height
                new = [r if r < whole else PADDING for r in range(first, first + timing.rows)]
                held[name] = [*held[name][timing.rows :], *new]
    return seen


def _read(
    stage: Stage,
    first: int,
    heights: Mapping[str, int],
    made: Geometry,
    held: Mapping[str, list[Row]],
    seen: dict[tuple[str, str], list[list[Row]]],
) -> None:
    for name, window in stage.reads.items():
        if name in held:
            start = made.starts[stage.result, name]
            found = held[name][start : start + window.rows(stage.rows)]
        else:
            start = first * window.stride
            found = list(range(start, start + window.rows(stage.rows)))
            assert found[-1] < heights[name], "a whole tensor is read outside"
        assert len(found) == window.rows(stage.rows)
        seen.setdefault((stage.result, name), []).extend(
            found[row * window.stride :][: window.extent] for row in range(stage.rows)
        )


def test_a_chain_keeps_no_more_rows_than_its_windows_have() -> None:
    three = RowWindow(3, 1, 1)
    stages = [
        Stage("a", 25, 1, {"x": three}),
        Stage("b", 25, 1, {"a": three}),
        Stage("c", 25, 1, {"b": three}),
    ]
    made = geometry.of(stages, {"x": 25})
    assert {name: buffer.rows for name, buffer in made.buffers.items()} == {"x": 3, "a": 3, "b": 3}
    assert made.steps == 28


def test_a_stride_makes_what_comes_before_more_frequent() -> None:
    stages = [
        Stage("a", 24, 1, {"x": RowWindow(3, 1, 1)}),
        Stage("b", 12, 1, {"a": RowWindow(3, 2, 0)}),
    ]
    made = geometry.of(stages, {"x": 24})
    assert (made.timings["a"].period, made.timings["b"].period) == (1, 2)
    assert made.buffers["a"].rows == 3


def test_rows_must_divide_the_result() -> None:
    with pytest.raises(ValueError, match="2 rows at a time do not divide 25 rows"):
        geometry.of([Stage("a", 25, 2, {"x": RowWindow()})], {"x": 25})


def test_what_is_read_at_two_rates_cannot_roll() -> None:
    stages = [
        Stage("a", 24, 1, {"x": RowWindow()}),
        Stage("b", 12, 1, {"a": RowWindow(1, 2)}),
        Stage("c", 12, 1, {"a": RowWindow(), "b": RowWindow()}),
    ]
    with pytest.raises(ValueError, match="'a' is read at different rates"):
        geometry.of(stages, {"x": 24})


def test_a_result_that_nothing_reads_is_no_part_of_a_group() -> None:
    stages = [
        Stage("a", 24, 1, {"x": RowWindow()}),
        Stage("b", 24, 1, {"x": RowWindow()}),
    ]
    with pytest.raises(ValueError, match="nothing reads 'a'"):
        geometry.of(stages, {"x": 24})
