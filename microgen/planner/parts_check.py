"""An independent check, from the calls alone, of buffers whose parts several calls compute."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

from microgen.planner.program.types import PrimFunc, Program, Role, RunnerCall, Storage

Run = tuple[int, int]  # the first byte, and the one after the last
Key = tuple[Storage, str]


def problems(program: Program) -> Iterator[str]:
    """Everything that is wrong with parts of buffers, one sentence each.

    Each byte of a buffer is written once in an inference, and before it is read. No tensor reaches
    outside of its buffer, all of the buffer is written, and a part takes no other tensor's place.
    Buffers that one call writes as a whole are left out, and so are inputs and variables, which are
    written at other times.
    """
    sizes = _parted(program)
    # In the order of the calls, as the runner makes them.
    written: dict[Key, list[Run]] = {key: [] for key in sizes}
    for call in program.calls:
        used = list(_used(program, call, sizes))
        paired = {position for pair in call.in_place for position in (pair.input, pair.output)}
        for key, run, role, position in used:
            nbytes, where = sizes[key], f"bytes {_text(run)} of {key[1]}"
            if not 0 <= run[0] <= run[1] <= nbytes:
                yield f"call {call.index} uses {where}, which has {nbytes}"
            elif role is not Role.OUTPUT and not _covers(written[key], run):
                yield f"call {call.index} reads {where} before they are written"
            # Before the first of several calls writes its run, nothing of the result is there.
            if position in paired and run != (0, nbytes) and (call.run is None or written[key]):
                yield f"call {call.index} may overlap {where}, which are a part"
        # After all reads of the call, because its outputs do not exist when it begins.
        for key, run, role, _ in used:
            if role is Role.OUTPUT and not _added(written[key], run):
                yield f"call {call.index} writes bytes {_text(run)} of {key[1]} again"
    for key, runs in written.items():
        if runs != [(0, sizes[key])]:
            yield f"of {key[1]} only bytes {', '.join(map(_text, runs))} are written"


def _parted(program: Program) -> dict[Key, int]:
    """The bytes of each buffer that calls write in parts."""
    # Inputs and variables have their bytes before the first call.
    buffers = [b for b in program.buffers if not (b.is_state or b.is_input)]
    sizes = {
        **{(Storage.SID, b.name): b.nbytes for b in buffers},
        **{(Storage.OUTPUT, p.name): p.type.nbytes for p in program.outputs},
    }
    uses = [one for call in program.calls for one in _used(program, call, sizes)]
    counts = Counter(key for key, _, role, _ in uses if role is Role.OUTPUT)
    # Written by several calls, or not from the first byte on.
    parted = {key for key, run, _, _ in uses if run[0] or counts[key] > 1}
    return {key: nbytes for key, nbytes in sizes.items() if key in parted}


def _used(
    program: Program, call: RunnerCall, sizes: Mapping[Key, int]
) -> Iterator[tuple[Key, Run, Role, int]]:
    """The bytes that a call reads and writes, and the positions of their parameters."""
    parameters = enumerate(program.function(call.function).parameters)
    pointers = [(i, p.role) for i, p in parameters if p.role is not Role.SCRATCH]
    # The context of a device, which is the last argument, has no type.
    for argument, kind, (position, role) in zip(call.args, call.types, pointers, strict=False):
        if (argument.storage, argument.name) in sizes:
            runs = [(0, kind.nbytes)]
            if call.run and role is Role.OUTPUT:
                runs = _runs(program.function(call.function))
            for start, end in runs:
                run = (argument.offset + start, argument.offset + end)
                yield (argument.storage, argument.name), run, role, position


def _runs(function: PrimFunc) -> list[Run]:
    """The bytes that a concatenation of some parts writes, by the arguments of its kernels."""
    runs: list[Run] = []
    for kernel in function.body:
        own = {name: value for name, value in kernel.params if isinstance(value, int)}
        starts = (row * own["output_row"] + own["offset"] for row in range(own["rows"]))
        runs += [(start, start + own["input_row"]) for start in starts]
    return runs


def _text(run: Run) -> str:
    return f"{run[0]}..{run[1] - 1}"


def _covers(runs: list[Run], run: Run) -> bool:
    # The last run that begins at the first byte or before it.
    place = bisect_left(runs, (run[0] + 1, 0)) - 1
    # An empty run has nothing to be covered.
    return run[0] == run[1] or (place >= 0 and runs[place][1] >= run[1])


def _added(runs: list[Run], run: Run) -> bool:
    """Add bytes to sorted runs, which do not touch one another; False if some of them are there."""
    start, end = run
    first = bisect_left(runs, start, key=lambda one: one[1])  # the first that does not end before
    last = bisect_left(runs, end + 1, key=lambda one: one[0])  # the first that begins after
    if any(a < end and start < b for a, b in runs[first:last]):
        return False
    # Runs that touch are joined, so that a buffer has one run once all of it is written.
    near = [run, *runs[first:last]]
    runs[first:last] = [(min(a for a, _ in near), max(b for _, b in near))]
    return True
