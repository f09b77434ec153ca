"""The live bytes of each call of a program, of which some calls may be exchanged.

A call with other scratch, or with other pairs that may share bytes, changes the live bytes of that
call alone: scratch lives only during its call, and a pair shares bytes only there. So the bound of
a program that differs in few calls takes a look at these calls only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from microgen.planner.lifetimes import (
    InPlacePair,
    Lifetime,
    Liveness,
    allowed,
    analyse,
    loads,
    saved,
    scratch_of,
)
from microgen.planner.program.types import Parameter, Program, RunnerCall


@dataclass(frozen=True, slots=True)
class Load:
    """A call by its index, the bytes that are live during it, the bytes of its scratch, and the
    pairs that may share bytes there."""

    call: int
    nbytes: int
    scratch: int
    pairs: tuple[InPlacePair, ...]


Exchanged = Mapping[int, Load]  # by the index of the call


@dataclass(slots=True)
class CallLoads:
    """The loads of a program's calls, in bytes."""

    program: Program
    _sids: tuple[Lifetime, ...] = field(init=False)
    _buffers: Mapping[str, Lifetime] = field(init=False)
    _state: frozenset[str] = field(init=False)
    _pairs: Mapping[int, tuple[InPlacePair, ...]] = field(init=False)  # by call
    _shared: list[int] = field(init=False)  # by call: without scratch, and without any pair
    _falling: list[tuple[int, int]] = field(init=False)  # loads and calls, the largest load first

    def __post_init__(self) -> None:
        liveness, calls = analyse(self.program), self.program.calls
        live = loads(liveness)
        self._sids = liveness.buffers[: len(self.program.buffers)]
        self._buffers = {each.name: each for each in liveness.buffers}
        self._state = frozenset(each.name for each in self.program.buffers if each.is_state)
        own = groupby(liveness.pairs, key=lambda pair: pair.call)
        self._pairs = {call: tuple(pairs) for call, pairs in own}
        less = {call: saved(pairs) for call, pairs in self._pairs.items()}
        every = [(live.get(call.index, 0), call.index) for call in calls]
        self._shared = [load + less.get(k, 0) - calls[k].scratch for load, k in every]
        self._falling = sorted(every, reverse=True)

    def bound(self, exchanged: Exchanged) -> int:
        """``lower_bound`` of the program with other calls at some indices."""
        kept = (load for load, call in self._falling if call not in exchanged)
        return max([0, next(kept, 0), *(one.nbytes for one in exchanged.values())])

    def load(self, call: RunnerCall, parameters: Sequence[Parameter]) -> Load:
        """The load with another call at the index of ``call``, which has the same buffers;
        ``parameters`` are those of its function."""
        pairs = allowed(call, parameters, self._buffers, self._state)
        nbytes = self._shared[call.index] + call.scratch - saved(pairs)
        return Load(call.index, nbytes, call.scratch, pairs)

    def liveness(self, exchanged: Exchanged) -> Liveness:
        """What a planner gets for the program with other calls at some indices."""
        scratch, pairs = list[Lifetime](), list[InPlacePair]()
        for call in self.program.calls:
            other = exchanged.get(call.index)
            nbytes = other.scratch if other else call.scratch
            scratch += [scratch_of(call.index, nbytes)] if nbytes else []
            pairs += other.pairs if other else self._pairs.get(call.index, ())
        return Liveness((*self._sids, *scratch), tuple(pairs))
