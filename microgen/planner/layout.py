"""Blocks (buffers that are placed together), the distances they need, and placing them in turn."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from microgen.base.formats.c_layout import aligned
from microgen.planner.lifetimes import InPlacePair, Lifetime, Liveness, shortened


@dataclass(frozen=True, slots=True)
class Layout:
    """A planner's decisions: an offset in bytes for each buffer, the in-place pairs it used, and
    the reason for the gap to the lower bound."""

    offsets: Mapping[str, int]
    pairs: tuple[InPlacePair, ...]
    proof: str


@dataclass(frozen=True)
class Block:
    """Buffers that are placed together: a chain of in-place pairs in time order, or a single one.

    ``starts`` are the members' offsets in the block in bytes, multiples of the alignment. With lags
    they decrease along the chain.
    """

    members: tuple[Lifetime, ...]
    starts: tuple[int, ...]

    @cached_property
    def nbytes(self) -> int:
        """Bytes of the union of the members."""
        if len(self.members) == 1:
            return self.members[0].nbytes
        # A lag lets members begin at different offsets, so the last one need not end last.
        return max(s + m.nbytes for s, m in zip(self.starts, self.members, strict=True))

    @property
    def steps(self) -> int:
        """Half steps from birth to death."""
        return self.members[-1].last - self.members[0].first + 1


@dataclass(frozen=True)
class Problem:
    """Blocks to place, identified by their index, for one choice of in-place pairs.

    ``clearance[i][j]`` exists if blocks i and j are live at the same time. If j lies above i, j's
    offset must exceed i's by this many bytes, rounded up to the alignment. It is the end of i while
    j is live, minus the start of j at that time, so it differs from ``clearance[j][i]``. With lags
    it may be negative. A block is above or below another one for all of the time: when one member
    takes over from the next, their union is kept apart from the other block.
    """

    blocks: tuple[Block, ...]
    pairs: tuple[InPlacePair, ...]
    alignment: int
    clearance: tuple[Mapping[int, int], ...]

    @property
    def has_steps_down(self) -> bool:
        """Whether a block may lie above another one although its offset is equal or lower."""
        # A clearance of 0 or less comes from a lag: the members overlap in space, not in time.
        return any(nbytes <= 0 for near in self.clearance for nbytes in near.values())

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The bytes of each block."""
        return tuple(block.nbytes for block in self.blocks)

    def peak(self, offsets: Sequence[int]) -> int:
        """Bytes that the layout needs: the end of its last block."""
        return max(self.ends(offsets), default=0)

    def ends(self, offsets: Sequence[int]) -> list[int]:
        """The end of each block, from the offsets of all blocks."""
        return list(map(operator.add, offsets, self.sizes))

    def layout(self, offsets: Sequence[int], proof: str) -> Layout:
        """The layout with the offset of each buffer by its name, from the offsets of blocks."""
        placed = zip(offsets, self.blocks, strict=True)
        named = {
            m.name: offset + start
            for offset, block in placed
            for m, start in zip(block.members, block.starts, strict=True)
        }
        return Layout(named, self.pairs, proof)


def make_problem(liveness: Liveness, used: tuple[InPlacePair, ...], alignment: int) -> Problem:
    """The blocks and clearances if exactly the ``used`` pairs share addresses."""
    blocks = _blocks(shortened(liveness.buffers, used), used, alignment)
    return Problem(blocks, used, alignment, _clearance(blocks, alignment))


def end(offsets: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    """The highest end of buffers with these offsets and sizes in bytes."""
    return max((offset + sizes[name] for name, offset in offsets.items()), default=0)


def lowest_fit(problem: Problem, order: Sequence[int]) -> list[int]:
    """Offsets if each block in turn takes the lowest free place."""
    placed: dict[int, int] = {}
    for i in order:
        placed[i] = lowest(i, problem, placed)
    return [placed[i] for i in range(len(problem.blocks))]


def lowest(i: int, problem: Problem, placed: Mapping[int, int]) -> int:
    """The lowest offset in bytes at which block i overlaps none of the placed blocks."""
    clearance = problem.clearance
    return lowest_outside(
        [
            (placed[j] - below, placed[j] + clearance[j][i])
            for j, below in clearance[i].items()
            if j in placed
        ]
    )


def lowest_outside(taken: list[tuple[int, int]]) -> int:
    """The lowest offset that is 0 or more and inside of no interval. The intervals, which get
    sorted, are open: after the place below a neighbour, before the place above it."""
    taken.sort()
    offset = 0
    # In the order of their beginnings, the first gap is the lowest place.
    for below, above in taken:
        if offset <= below:
            break
        if offset < above:
            offset = above
    return offset


def _blocks(
    buffers: Iterable[Lifetime], used: Iterable[InPlacePair], alignment: int
) -> tuple[Block, ...]:
    by_name = {b.name: b for b in buffers}
    follower = {pair.input: pair.output for pair in used}
    # All offsets are multiples of the alignment, so distances between them are, too.
    lags = {pair.output: aligned(pair.lag, alignment) for pair in used}
    # A member that takes another's place is in the chain of its head.
    chains = [chain(name, follower) for name in by_name if name not in lags]
    return tuple(
        Block(tuple(by_name[name] for name in names), _starts([lags[name] for name in names[1:]]))
        for names in chains
    )


def _starts(lags: Sequence[int]) -> tuple[int, ...]:
    """The offsets of a chain's members: each is one lag below its predecessor's, and the last is
    0."""
    return tuple(accumulate(reversed(lags), initial=0))[::-1]


def chain(head: str, follower: Mapping[str, str]) -> list[str]:
    """A buffer, its follower, the follower's follower, and so on."""
    names = [head]
    while names[-1] in follower:
        names.append(follower[names[-1]])
    return names


def _clearance(blocks: Sequence[Block], alignment: int) -> tuple[dict[int, int], ...]:
    clearance: tuple[dict[int, int], ...] = tuple({} for _ in blocks)
    members = [
        (m, start, i)
        for i, block in enumerate(blocks)
        for m, start in zip(block.members, block.starts, strict=True)
        # A buffer without bytes needs no distance.
        if m.nbytes
    ]
    # Last half step, block, and start and rounded end in the block.
    live: list[tuple[int, int, int, int]] = []
    # A sweep over births: only members that are still live at a birth need a distance from it.
    for member, start, i in sorted(members, key=lambda item: item[0].first):
        live = [item for item in live if item[0] >= member.first]
        end, own = start + aligned(member.nbytes, alignment), clearance[i]
        for _, j, other_start, other_end in live:
            # Clearances are between the offsets of blocks, and members begin inside them.
            own[j] = max(own.get(j, end - other_start), end - other_start)
            other = clearance[j]
            other[i] = max(other.get(i, other_end - start), other_end - start)
        live.append((member.last, i, start, end))
    return clearance
