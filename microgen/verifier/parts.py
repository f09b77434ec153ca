"""Whether calls that compute parts of a buffer leave each other's parts alone, by the manifest."""

from __future__ import annotations

import math
from collections.abc import Iterator

from microgen.ir.graph import DType
from microgen.manifest import CallRecord, ModuleRecord, StepRecord

_NBYTES = {dtype.value: dtype.nbytes for dtype in DType}

_BUFFERS = ("sid", "output")

_Place = tuple[str, str]  # the storage, and the buffer in it
_Written = tuple[int, int, int]  # the first byte, the one after the last, and the call


def problems(module: ModuleRecord) -> Iterator[str]:
    """Two calls that write the same bytes of a buffer, and results of which a part is not written.

    The first step of an argument is what the call writes there. Others at the same argument are
    results whose last part that is. Variables are left out, because calls write them again.
    """
    state = {buffer.name for buffer in module.plan.buffers if buffer.is_state}
    written: dict[_Place, list[_Written]] = {}
    for call in module.calls:
        own: set[int] = set()
        for step, position in _results(call):
            argument = call.args[position]
            there = written.setdefault((argument.storage, argument.name), [])
            start = argument.offset + step.offset
            end = start + _nbytes(step)
            inside = [w for w in there if w[0] < end and start < w[1]]
            if argument.name in state:
                continue
            if position not in own:
                own.add(position)
                there.append((start, end, call.index))
                for _, _, other in inside[:1]:
                    yield f"call {call.index} writes {step.tensor} over what call {other} wrote"
            elif sum(min(w[1], end) - max(w[0], start) for w in inside) != end - start:
                yield f"call {call.index}: not all of {step.tensor} is written"


def _results(call: CallRecord) -> Iterator[tuple[StepRecord, int]]:
    """The steps of a call whose results are in a buffer, with the positions of the arguments. The
    last layer that is computed row by row is in the output, which precedes the scratch."""
    pointers = [k for k, argument in enumerate(call.args) if argument.storage in _BUFFERS]
    rolled = [step for step in call.steps if step.in_rows]
    if rolled and pointers:
        yield rolled[-1], pointers[-1]
    yield from ((step, position) for step, position in call.seen if position in pointers)


def _nbytes(step: StepRecord) -> int:
    return math.prod(step.shape) * _NBYTES.get(step.dtype, 0)
