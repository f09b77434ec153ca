"""The schedule of a chain or small graph of nodes that is computed row by row: the events of each
step.

All nodes have the same loop of steps. A node computes ``rows`` rows at a time, in step ``first``
and then every ``period`` steps, ``count`` times. Before each computation, the rows of the result's
buffer move up by ``rows``, which makes room for the new rows at its end. After the last computation
the buffer gets rows of padding, as long as readers need them.

Let a tensor get n rows every p steps from step D on, and let its buffer have B rows. In step t it
has been given m = floor((t - D) / p) + 1 times n rows, so it holds the rows m * n - B to m * n - 1.
A reader that computes N rows at a time with stride s begins its k-th window with row
k * s * N - above. It computes them every p * s * N / n steps from step E on, so that then
m = k * s * N / n + M with M = floor((E - D) / p) + 1. So its windows always begin B - M * n - above
rows after the buffer's beginning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from microgen.graph.rows.windows import RowWindow


@dataclass(frozen=True, slots=True)
class Stage:
    """A node, and the rows that it computes at a time."""

    result: str  # the tensor that it computes
    height: int  # rows of the result
    rows: int  # that it computes at a time
    # The windows of the tensors that it reads. If it reads one twice, the windows are equal.
    reads: Mapping[str, RowWindow]


@dataclass(frozen=True, slots=True)
class Timing:
    """The steps in which a buffer or a result gets rows."""

    first: int  # step
    period: int  # steps from one time to the next
    count: int  # times
    rows: int  # each time

    @property
    def end(self) -> int:
        """The step after the last step with new rows."""
        return self.first + (self.count - 1) * self.period + 1

    def times(self, step: int) -> int:
        """The number of times by the end of a step, as if they had no end."""
        return (step - self.first) // self.period + 1


@dataclass(frozen=True, slots=True)
class RowBuffer:
    """A buffer for the last rows of a tensor that never exists as a whole."""

    rows: int
    end: int  # the step before which they are read
    timing: Timing
    surplus: int  # of the last rows that it gets, which are padding
    fill: int | None  # the value of padding, None if none is read


@dataclass(frozen=True, slots=True)
class Geometry:
    """The steps of a group of stages."""

    steps: int  # iterations of the loop
    # For each stage, by its result, and for each tensor that is copied into a buffer.
    timings: Mapping[str, Timing]
    # By their tensors. A tensor that is read without a buffer is whole.
    buffers: Mapping[str, RowBuffer]
    # By the results of reader and tensor: the row of the buffer at which the reader's window
    # begins.
    starts: Mapping[tuple[str, str], int]


def of(
    stages: Sequence[Stage], heights: Mapping[str, int], fed: Mapping[str, int] | None = None
) -> Geometry:
    """The geometry of the stages, given in execution order. The last result is whole; ``heights``
    has the rows of the tensors that come from outside. The tensors in ``fed`` arrive in blocks of a
    stated number of rows, so they are copied; the number of rows copied at a time divides this
    number.

    Raises ValueError if a tensor is read at different rates or padded with different values, if
    nothing reads a result, if the rows that a stage reads at a time are no multiple of the rows
    that another computes at a time, or if the rows that the last stage computes at a time do not
    divide its rows.
    """
    last = stages[-1]
    if last.height % last.rows:
        raise ValueError(f"{last.rows} rows at a time do not divide {last.height} rows")
    # The order matters: periods need the rows at a time, and buffers need the times.
    copied = _copied(stages, heights, fed or {})
    chunks = {**copied, **{stage.result: stage.rows for stage in stages}}
    whole = {**heights, **{stage.result: stage.height for stage in stages}}
    timings = _timings(stages, copied, _periods(stages, chunks), chunks, whole)
    buffers, starts = {}, {}
    for name in (*copied, *(stage.result for stage in stages[:-1])):
        readers = [stage for stage in stages if name in stage.reads]
        buffers[name] = _buffer(name, readers, whole[name], timings)
        for reader in readers:
            start = buffers[name].rows - _before(reader, name, timings)
            starts[reader.result, name] = start
    steps = max(timings[name].end for name in (*(fed or ()), *(stage.result for stage in stages)))
    return Geometry(steps, timings, buffers, starts)


def _copied(
    stages: Sequence[Stage], heights: Mapping[str, int], fed: Mapping[str, int]
) -> dict[str, int]:
    """The tensors from outside that need a buffer, because windows reach beyond them or because
    they arrive in blocks, and the number of rows that are copied at a time.
    """
    rates: dict[str, int] = {}
    for stage in stages:
        for name, window in stage.reads.items():
            if name in fed or (name in heights and _leaves(stage, window, heights[name])):
                each = window.stride * stage.rows
                rates[name] = min(each, rates.get(name, each))
    return {name: math.gcd(each, fed.get(name, each)) for name, each in rates.items()}


def _periods(stages: Sequence[Stage], chunks: Mapping[str, int]) -> dict[str, int]:
    """The period of each tensor that gets ``chunks`` rows at a time, in the longest steps that suit
    all."""
    # Backwards: a tensor's rate follows from its readers' rates.
    rates = {stages[-1].result: Fraction(1)}  # rows for each row of the last result
    for stage in reversed(stages):
        if stage.result not in rates:
            raise ValueError(f"nothing reads {stage.result!r}")
        for name, window in stage.reads.items():
            rate = window.stride * rates[stage.result]
            if rates.setdefault(name, rate) != rate:
                raise ValueError(f"{name!r} is read at different rates")
            if name in chunks and window.stride * chunks[stage.result] % chunks[name]:
                raise ValueError(f"{name!r} is not read in the rows that it gets at a time")
    relative = {name: chunk / rates[name] for name, chunk in chunks.items()}
    scale = math.lcm(*(period.denominator for period in relative.values()))
    whole = {name: int(period * scale) for name, period in relative.items()}
    # The longest step, so that the loop has the fewest iterations.
    step = math.gcd(*whole.values())
    return {name: period // step for name, period in whole.items()}


def _timings(
    stages: Sequence[Stage],
    copied: Mapping[str, int],
    periods: Mapping[str, int],
    chunks: Mapping[str, int],
    whole: Mapping[str, int],
) -> dict[str, Timing]:
    """The timing of each buffer, which gets rows as soon as the rows on which they depend exist."""

    def timing(name: str, first: int) -> Timing:
        return Timing(first, periods[name], -(-whole[name] // chunks[name]), chunks[name])

    timings = {name: timing(name, 0) for name in copied}
    for stage in stages:
        first = 0
        for name, window in stage.reads.items():
            if name in timings:
                needed = window.rows(stage.rows) - window.above
                times = max(1, -(-needed // chunks[name]))
                first = max(first, timings[name].first + (times - 1) * timings[name].period)
        timings[stage.result] = timing(stage.result, first)
    return timings


def _leaves(stage: Stage, window: RowWindow, height: int) -> bool:
    """Whether windows of the stage reach rows outside a tensor with ``height`` rows."""
    computed = -(-stage.height // stage.rows) * stage.rows
    return window.above > 0 or window.rows(computed) > height


def _before(reader: Stage, tensor: str, timings: Mapping[str, Timing]) -> int:
    """The rows from the beginning of a reader's window to the end of the tensor's buffer."""
    timing = timings[tensor]
    times = timing.times(timings[reader.result].first)
    return times * timing.rows + reader.reads[tensor].above


def _buffer(
    name: str, readers: Sequence[Stage], height: int, timings: Mapping[str, Timing]
) -> RowBuffer:
    fills = {r.reads[name].fill for r in readers if _leaves(r, r.reads[name], height)}
    if len(fills) > 1:
        raise ValueError(f"{name!r} is padded with different values")
    timing = timings[name]
    rows = max(_before(reader, name, timings) for reader in readers)
    # The last time may compute rows past the end.
    surplus = timing.count * timing.rows - height
    end = max(timings[reader.result].end for reader in readers)
    return RowBuffer(rows, end, timing, surplus, next(iter(fills), None))
