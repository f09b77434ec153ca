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

# A call instead of another, with the same buffers, and the parameters of its function.
Exchanged = tuple[RunnerCall, Sequence[Parameter]]


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

    def bound(self, exchanged: Mapping[int, Exchanged]) -> int:
        """``lower_bound`` of the program with other calls at some indices."""
        kept = (load for load, call in self._falling if call not in exchanged)
        return max([0, next(kept, 0), *map(self._load, exchanged.values())])

    def _load(self, exchanged: Exchanged) -> int:
        call, parameters = exchanged
        less = saving(call, parameters, self._buffers, self._state)
        return self._shared[call.index] + call.scratch - less
