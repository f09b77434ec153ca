"""Checks by the manifest that calls which compute parts of a buffer do not write each other's
parts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from microgen.base.manifest import CallRecord, ModuleRecord, RunRecord, StepRecord
from microgen.graph.ir.graph import DType

_NBYTES = {dtype.value: dtype.nbytes for dtype in DType}

_BUFFERS = ("sid", "output")
_MOST_ROWS = 2**24  # so that a damaged record does not take forever

_Place = tuple[str, str]  # the storage, and the buffer in it


def problems(module: ModuleRecord) -> Iterator[str]:
    """Two calls that write the same bytes of a buffer, and results that are only partly written.

    Results may be assembled from parts. The first step of an argument is the part that the call
    itself writes; each later step is a larger result whose last part is the step before it. A call
    may also write a run of each row of a result, which the last of such calls completes.
    Variables are left out, because calls write them again.
    """
    state = {buffer.name for buffer in module.plan.buffers if buffer.is_state}
    sizes = {
        **{buffer.name: buffer.nbytes for buffer in module.plan.buffers},
        **{port.name: port.nbytes for port in module.outputs},
    }
    written: dict[_Place, _Written] = {}
    if sum(call.run.rows for call in module.calls if call.run) > _MOST_ROWS:
        yield "there are more rows of runs than any memory has"
        return
    for call in module.calls:
        own: set[int] = set()
        if call.run and call.args and call.args[-1].name not in state:
            own.add(len(call.args) - 1)
            argument = call.args[-1]
            there = written.setdefault((argument.storage, argument.name), _Written())
            runs = list(_rows(call.run, argument.offset))
            if not all(0 <= start < end <= sizes.get(argument.name, 0) for start, end in runs):
                yield f"call {call.index} writes a run that is not in {argument.name}"
            elif not all(there.add(*run) for run in runs):
                yield f"call {call.index} writes a run over what another call wrote"
        for step, position in _results(call):
            argument = call.args[position]
            start = argument.offset + step.offset
            end = start + (nbytes(step.shape, step.dtype) or 0)
            there = written.setdefault((argument.storage, argument.name), _Written())
            if argument.name in state:
                continue
            if position in own and not there.has(start, end):
                yield f"call {call.index}: not all of {step.tensor} is written"
            elif position not in own and not there.add(start, end):
                yield f"call {call.index} writes {step.tensor} over what another call wrote"
            own.add(position)


@dataclass(slots=True)
class _Written:
    """The bytes of a buffer that calls have written, as separate runs, in order: the offsets of
    their first bytes, and the first offsets after them."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def has(self, start: int, end: int) -> bool:
        """Whether all bytes from ``start`` up to, not including, ``end`` are written."""
        run = bisect_right(self.starts, start) - 1
        return start >= end or (run >= 0 and end <= self.ends[run])

    def add(self, start: int, end: int) -> bool:
        """Write these bytes; False if some of them are written already."""
        # The runs from `first` to the one before `last` share bytes with the new one.
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if start < end and first < last:
            return False
        # Runs that touch become one, so `has` compares with one run only.
        before = first > 0 and self.ends[first - 1] == start
        after = last < len(self.starts) and self.starts[last] == end
        new_start = self.starts[first - 1] if before else start
        new_end = self.ends[last] if after else end
        if start < end:
            self.starts[first - before : last + after] = [new_start]
            self.ends[first - before : last + after] = [new_end]
        return True


def _rows(run: RunRecord, start: int) -> Iterator[tuple[int, int]]:
    """The bytes of each row of a run in its buffer: the first, and the one after the last."""
    first = start + run.offset
    for row in range(run.rows):
        yield first + row * run.pitch, first + row * run.pitch + run.nbytes


def _results(call: CallRecord) -> Iterator[tuple[StepRecord, int]]:
    """The steps of a call whose results are in a buffer, with the positions of the arguments. The
    last layer that is computed row by row is in the output, which precedes the scratch."""
    pointers = [k for k, argument in enumerate(call.args) if argument.storage in _BUFFERS]
    rolled = [step for step in call.steps if step.in_rows]
    if rolled and pointers:
        yield rolled[-1], pointers[-1]
    yield from ((step, position) for step, position in call.seen if position in pointers)


def nbytes(shape: tuple[int, ...], dtype: str) -> int | None:
    """Bytes of a tensor; None for an unknown dtype."""
    return math.prod(shape) * _NBYTES[dtype] if dtype in _NBYTES else None
