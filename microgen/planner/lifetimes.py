"""When each planned buffer is live, and which pairs of buffers may share an address.

Time is counted in half steps, as in ``program.plan.Placement``: call k reads at 2k and has written
by 2k+1. A call's outputs are born at 2k, its inputs die at 2k+1 at the earliest, and its scratch is
live at [2k, 2k+1]. State for the next inference is live from the first call to one after the last.
Buffers that the caller writes are live from the first call. Buffers that it reads are live to one
after the last. If an in-place pair is used, its input ends at 2k and its output starts at 2k+1.

A pair may also be the call's scratch and an output, if the bytes that the output's last bytes take
are not needed any more when these are written. The scratch is such a pair's input.

An output at its input's address must be no larger. Then it cannot reach the input of another pair
of the same call, which also ends at 2k, but which the kernel still reads while it writes. An output
may begin before its input, and be larger, only if the call plans no other output. Then everything
else that the call reads or writes is live through 2k+1, so it is kept apart from the output.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from microgen.base.errors import InternalError
from microgen.planner.program.types import Buffer, Parameter, Program, Role, RunnerCall, Storage


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A planned buffer: its bytes, first and last half step, both inclusive."""

    name: str
    nbytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class InPlacePair:
    """Buffers that may overlap in call number ``call``.

    With a ``lag`` of 0 bytes they are at one address, and the output is no larger than the input.
    Otherwise the output begins ``lag`` bytes, rounded up to the alignment, before the input.
    ``saves`` is the number of bytes that they share without the rounding.
    """

    call: int
    input: str
    output: str
    saves: int
    lag: int = 0


@dataclass(frozen=True, slots=True)
class Liveness:
    """The buffers that a planner must place, as if no pair were used, and the pairs it may use.

    Buffers are in program order, scratch after the sids; pairs are in call order.
    """

    buffers: tuple[Lifetime, ...]
    pairs: tuple[InPlacePair, ...]

    def only(self, names: Collection[str]) -> Liveness:
        """The buffers with these names, and the pairs of two of them."""
        return Liveness(
            tuple(b for b in self.buffers if b.name in names),
            tuple(p for p in self.pairs if p.input in names and p.output in names),
        )


@dataclass(frozen=True, slots=True)
class _Access:
    """The planned buffers that one call uses: (parameter position, sid); and the positions of
    parameters for scratch, which has no argument."""

    call: RunnerCall
    reads: tuple[tuple[int, str], ...]
    writes: tuple[tuple[int, str], ...]
    scratch: tuple[int, ...]


def analyse(program: Program) -> Liveness:
    """Lifetimes and allowed in-place pairs of a program.

    Raises InternalError if a buffer is never written, or read before it is.
    """
    functions = {function.name: function for function in program.functions}
    accesses = [_access(call, functions[call.function].parameters) for call in program.calls]
    spans = _spans(accesses, program.buffers)
    sids = [_sid(b, spans, len(program.calls)) for b in program.buffers]
    scratch = [scratch_of(c.index, c.scratch) for c in program.calls if c.scratch]
    by_name = {b.name: b for b in sids}
    state = {b.name for b in program.buffers if b.is_state}
    pairs = [p for a in accesses for p in _pairs(a, by_name) if p.output not in state]
    return Liveness((*sids, *scratch), tuple(pairs))


def scratch_of(call: int, nbytes: int) -> Lifetime:
    """The scratch memory of a call, in bytes."""
    return Lifetime(f"scratch_{call}", nbytes, 2 * call, 2 * call + 1)


def allowed(
    call: RunnerCall,
    parameters: Sequence[Parameter],
    buffers: Mapping[str, Lifetime],
    state: Collection[str],
) -> tuple[InPlacePair, ...]:
    """The pairs of one call. ``buffers`` and ``state`` are the planned buffers of its program by
    name, and the names of those that keep their bytes."""
    pairs = _pairs(_access(call, parameters), buffers)
    return tuple(pair for pair in pairs if pair.output not in state)


def saved(pairs: Iterable[InPlacePair]) -> int:
    """The most bytes that pairs of one call save."""
    return sum(pair.saves for pair in matchings(list(pairs))[0])


def shortened(buffers: Iterable[Lifetime], used: Iterable[InPlacePair]) -> tuple[Lifetime, ...]:
    """The lifetimes once the ``used`` pairs share their addresses."""
    pairs = list(used)
    ends = {pair.input: 2 * pair.call for pair in pairs}
    starts = {pair.output: 2 * pair.call + 1 for pair in pairs}
    return tuple(
        Lifetime(b.name, b.nbytes, starts.get(b.name, b.first), ends.get(b.name, b.last))
        if b.name in ends or b.name in starts
        else b
        for b in buffers
    )


def matchings(pairs: Sequence[InPlacePair]) -> list[tuple[InPlacePair, ...]]:
    """All choices of pairs of one call in which no buffer is used twice, largest saving first."""
    # A call has few pairs, so all choices are listed. Sorting is stable, so equal savings keep
    # the order of the parameters.
    return sorted(_matchings(pairs), key=lambda chosen: -sum(pair.saves for pair in chosen))


def by_call(pairs: Iterable[InPlacePair]) -> list[list[InPlacePair]]:
    """The pairs of each call that has any, in call order."""
    return [list(group) for _, group in groupby(pairs, key=lambda pair: pair.call)]


def all_merged(liveness: Liveness) -> tuple[InPlacePair, ...]:
    """The choice of pairs that saves the most at every call."""
    # A pair only changes the half steps of its own call, so each call's best choice is independent.
    return tuple(pair for group in by_call(liveness.pairs) for pair in matchings(group)[0])


def live_at(liveness: Liveness) -> dict[int, list[Lifetime]]:
    """The buffers that are live at each call if no pair is used. Calls without buffers are left
    out."""
    live: dict[int, list[Lifetime]] = {}
    for b in liveness.buffers:
        for call in range(b.first // 2, b.last // 2 + 1):
            live.setdefault(call, []).append(b)
    return live


def lower_bound(liveness: Liveness, others: Sequence[int] = ()) -> int:
    """The largest sum of live bytes at any call if every call saves as much as it can. ``others``
    are the sizes of pieces of memory whose bytes do not count."""
    live = loads(liveness)
    for nbytes in others:
        # Another piece of memory holds at most its own bytes, and at most the bytes of the live
        # buffers that are not larger than it.
        fitting = tuple(b for b in liveness.buffers if b.nbytes <= nbytes)
        inside = loads(Liveness(fitting, ()))
        live = {call: load - min(nbytes, inside.get(call, 0)) for call, load in live.items()}
    # A program without planned buffers has no loads.
    return max(0, *live.values()) if live else 0


def loads(liveness: Liveness) -> dict[int, int]:
    """The live bytes of each call if every call saves as much as it can."""
    changes: Counter[int] = Counter()
    for b in liveness.buffers:
        # Inclusive ends, so the bytes are free one call later.
        changes[b.first // 2] += b.nbytes
        changes[b.last // 2 + 1] -= b.nbytes
    live = dict(enumerate(accumulate(changes[call] for call in range(max(changes, default=0)))))
    # A pair counts the bytes of its union, which is contiguous. Everything else that is live at the
    # call lives through both half steps, so it lies outside of the union. Nothing is rounded up.
    for pair in all_merged(liveness):
        live[pair.call] -= pair.saves
    return live


def load(buffers: Iterable[Lifetime]) -> int:
    """The largest sum of bytes that are live at one half step."""
    changes: Counter[int] = Counter()
    for b in buffers:
        changes[b.first] += b.nbytes
        changes[b.last + 1] -= b.nbytes
    # An input ends at 2k and its output begins at 2k+1, so no half step has both.
    return max(accumulate(changes[time] for time in sorted(changes)), default=0)


def crowding(liveness: Liveness) -> int:
    """The work for algorithms that look at every pair of buffers that are live at the same time,
    and at every buffer of every call: the sum of both numbers."""
    ends = sorted(b.last for b in liveness.buffers)
    births = sorted(b.first for b in liveness.buffers)
    # At the birth of buffer i, the buffers that were born before and have not ended are live.
    pairs = sum(i - bisect_left(ends, first) for i, first in enumerate(births))
    return pairs + sum((b.last - b.first + 1) // 2 for b in liveness.buffers)


def _access(call: RunnerCall, parameters: Sequence[Parameter]) -> _Access:
    pointers = [(i, p.role) for i, p in enumerate(parameters) if p.role != Role.SCRATCH]
    # A wrong number would pair every later argument with the wrong role.
    if len(pointers) != len(call.args):
        raise InternalError(
            f"passes {len(call.args)} arguments to {call.function}, expected {len(pointers)}",
            where=f"call {call.index}",
        )
    planned = [
        (position, role, argument.name)
        for (position, role), argument in zip(pointers, call.args, strict=True)
        if argument.storage == Storage.SID
    ]
    return _Access(
        call,
        tuple((position, name) for position, role, name in planned if role != Role.OUTPUT),
        tuple((position, name) for position, role, name in planned if role == Role.OUTPUT),
        tuple(i for i, p in enumerate(parameters) if p.role == Role.SCRATCH),
    )


def _spans(accesses: Iterable[_Access], buffers: Sequence[Buffer]) -> dict[str, tuple[int, int]]:
    """The first and the last call that use each sid. An input is used from the first call on."""
    state = {b.name for b in buffers if b.is_state}
    spans = {b.name: (0, 0) for b in buffers if b.is_input}
    for access in accesses:
        index = access.call.index
        for _, name in access.reads:
            if name not in spans and name not in state:
                # Its bytes would still be those of an earlier buffer at the same address.
                raise InternalError("is read before it is written", where=f"call {index}: {name}")
        for _, name in (*access.reads, *access.writes):
            spans[name] = (spans.get(name, (index, index))[0], index)
    return spans


def _sid(buffer: Buffer, spans: dict[str, tuple[int, int]], calls: int) -> Lifetime:
    if buffer.name not in spans:
        raise InternalError("no call writes it", where=buffer.name)
    first, last = spans[buffer.name]
    first = 0 if buffer.is_state else first
    # ``calls`` is one more than the last call's number: the time after all of them.
    last = calls if buffer.is_state or buffer.is_output else last
    return Lifetime(buffer.name, buffer.nbytes, 2 * first, 2 * last + 1)


def _pairs(access: _Access, buffers: Mapping[str, Lifetime]) -> Iterator[InPlacePair]:
    lags = {(pair.input, pair.output): pair.lag for pair in access.call.in_place}
    written = [name for _, name in access.writes]
    positions: dict[str, list[int]] = {}
    for position, name in access.reads:
        positions.setdefault(name, []).append(position)
    if access.call.scratch and access.scratch:
        # Calls that are exchanged have other scratch than the program's calls.
        own = scratch_of(access.call.index, access.call.scratch)
        buffers = {**buffers, own.name: own}
        positions[own.name] = list(access.scratch)
    for out_position, out in access.writes:
        for name, read in positions.items():
            # A buffer that is read at several positions may be overwritten only if all of them
            # state one lag.
            stated = {lags.get((position, out_position)) for position in read}
            lag = stated.pop()
            if lag is None or stated or name in written:
                continue
            pair = _pair(access.call.index, buffers[name], buffers[out], lag)
            # With two outputs, one that begins before its input could reach the other's input.
            if pair and (len(written) == 1 or not lag):
                yield pair


def _pair(call: int, source: Lifetime, target: Lifetime, lag: int) -> InPlacePair | None:
    """The pair, if the input dies in the call in which the output is born, and they overlap."""
    # The input must die and the output be born in this very call, otherwise both are live together.
    if source.last != 2 * call + 1 or target.first != 2 * call:
        return None
    saves = min(source.nbytes, target.nbytes - lag)
    # With a lag of 0 the output must lie within the input.
    fits = saves > 0 if lag else target.nbytes <= source.nbytes
    return InPlacePair(call, source.name, target.name, saves, lag) if fits else None


def _matchings(pairs: Sequence[InPlacePair]) -> list[tuple[InPlacePair, ...]]:
    if not pairs:
        return [()]
    # The choices with the first pair, and the choices without it: every subset once.
    head, rest = pairs[0], pairs[1:]
    apart = [p for p in rest if p.input != head.input and p.output != head.output]
    return [(head, *chosen) for chosen in _matchings(apart)] + _matchings(rest)
