"""The live bytes of each call of a program, of which some calls may be exchanged.

A call with other scratch, or with other pairs that may share bytes, changes the live bytes of that
call alone: scratch lives only during its call, and a pair shares bytes only there. So the bound of
a program that differs in few calls takes a look at these calls only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from microgen.planner.lifetimes import Lifetime, analyse, loads, saved, saving
from microgen.planner.program.types import Parameter, Program, RunnerCall


@dataclass(frozen=True, slots=True)
class Load:
    """The bytes that are live during a call: its index, and their number."""

    call: int
    nbytes: int


@dataclass(slots=True)
class CallLoads:
    """The loads of a program's calls, in bytes."""

    program: Program
    _buffers: Mapping[str, Lifetime] = field(init=False)
    _state: frozenset[str] = field(init=False)
    _shared: list[int] = field(init=False)  # by call: without scratch, and without any pair
    _falling: list[tuple[int, int]] = field(init=False)  # loads and calls, the largest load first

    def __post_init__(self) -> None:
        liveness, calls = analyse(self.program), self.program.calls
        live = loads(liveness)
        self._buffers = {each.name: each for each in liveness.buffers}
        self._state = frozenset(each.name for each in self.program.buffers if each.is_state)
        own = groupby(liveness.pairs, key=lambda pair: pair.call)
        less = {call: saved(pairs) for call, pairs in own}
        every = [(live.get(call.index, 0), call.index) for call in calls]
        self._shared = [load + less.get(k, 0) - calls[k].scratch for load, k in every]
        self._falling = sorted(every, reverse=True)

    def bound(self, exchanged: Mapping[int, int]) -> int:
        """``lower_bound`` of the program with other loads at some indices."""
        kept = (load for load, call in self._falling if call not in exchanged)
        return max([0, next(kept, 0), *exchanged.values()])

    def load(self, call: RunnerCall, parameters: Sequence[Parameter]) -> Load:
        """The load with another call at the index of ``call``, which has the same buffers;
        ``parameters`` are those of its function."""
        less = saving(call, parameters, self._buffers, self._state)
        return Load(call.index, self._shared[call.index] + call.scratch - less)
