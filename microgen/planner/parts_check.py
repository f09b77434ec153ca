"""An independent check of buffers of which several calls compute parts, from the calls alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from microgen.program.types import Argument, Call, Program, Role, Storage

Run = tuple[int, int]  # the first byte, and the one after the last
Key = tuple[Storage, str]


def problems(program: Program) -> Iterator[str]:
    """Everything that is wrong with parts of buffers, one sentence each.

    Each byte of a buffer is written once in an inference, and before it is read. No tensor reaches
    outside of its buffer, and what was written is all of it. Inputs and variables, which are
    written at other times, are left out, and so are outputs that no call writes.
    """
    written: dict[Key, list[Run]] = {key: [] for key in _sizes(program)}
    sizes = _sizes(program)
    for call in program.calls:
        used = list(_used(program, call, sizes))
        for key, run, role in used:
            if not 0 <= run[0] <= run[1] <= sizes[key]:
                yield f"call {call.index} uses bytes {_text(run)} of {key[1]}, which has {sizes[key]}"
            elif role is not Role.OUTPUT and not _covers(written[key], run):
                yield f"call {call.index} reads bytes {_text(run)} of {key[1]} before they are written"
        for key, run, role in used:
            if role is Role.OUTPUT and not _added(written[key], run):
                yield f"call {call.index} writes bytes {_text(run)} of {key[1]} again"
    for key, runs in written.items():
        if runs and runs != [(0, sizes[key])] and sizes[key]:
            yield f"of {key[1]} only bytes {', '.join(map(_text, runs))} are written"


def _sizes(program: Program) -> dict[Key, int]:
    buffers = [b for b in program.buffers if not (b.is_state or b.is_input)]
    return {
        **{(Storage.SID, b.name): b.nbytes for b in buffers},
        **{(Storage.OUTPUT, p.name): p.type.nbytes for p in program.outputs},
    }


def _used(
    program: Program, call: Call, sizes: Mapping[Key, int]
) -> Iterator[tuple[Key, Run, Role]]:
    """The bytes that a call reads and writes."""
    parameters = program.function(call.function).parameters
    roles = [p.role for p in parameters if p.role is not Role.SCRATCH]
    for argument, kind, role in zip(call.args, call.types, roles, strict=False):
        if (argument.storage, argument.name) in sizes:
            yield (argument.storage, argument.name), _run(argument, kind.nbytes), role


def _run(argument: Argument, nbytes: int) -> Run:
    return argument.offset, argument.offset + nbytes


def _text(run: Run) -> str:
    return f"{run[0]}..{run[1] - 1}"


def _covers(runs: list[Run], run: Run) -> bool:
    place = bisect_left(runs, (run[0] + 1, 0)) - 1
    return run[0] == run[1] or (place >= 0 and runs[place][1] >= run[1])


def _added(runs: list[Run], run: Run) -> bool:
    """Add bytes to sorted runs, none of which touch; False if there are such bytes already."""
    start, end = run
    place = bisect_left(runs, run)
    before, after = runs[place - 1 : place] if place else [], runs[place : place + 1]
    if start == end:
        return True
    if (before and before[0][1] > start) or (after and after[0][0] < end):
        return False
    if before and before[0][1] == start:
        start, place = before[0][0], place - 1
    if after and after[0][0] == end:
        end = after[0][1]
    last = place + (start != run[0]) + (end != run[1])
    runs[place:last] = [(start, end)]
    return True
