"""The division into functions with rows with which a search for little RAM begins."""

from __future__ import annotations

from collections.abc import Iterator

from microgen.compiler.schedule.division import Division, Pieces
from microgen.compiler.schedule.goals import GOALS, Key
from microgen.compiler.schedule.state import Candidate, Picks, Scorer

PROMISING = 4  # divisions that are lowered and planned
# The bytes that are live during all other calls, in sixteenths of the bytes that are live during
# one call. If bytes of inputs may hold other tensors later, there are two buffers, which leave
# gaps. The gaps are smaller if less is live.
SHARES = (15, 14, 13, 12, 10, 8)


def best(divided: Pieces, scorer: Scorer, goal: str) -> Picks:
    """The picks of the best of some divisions, which are planned."""

    def planned(division: Division) -> Key:
        return GOALS[goal](scorer.ram(Candidate(division.picks)).arena_io, division.cycles, 0)

    return min(_promising(divided, scorer, goal), key=planned).picks


def _promising(divided: Pieces, scorer: Scorer, goal: str) -> Iterator[Division]:
    least = divided.least()
    # Planning adds this to the bytes of a division: inputs, outputs, and gaps.
    beside = scorer.ram(Candidate(least.picks)).arena_io - least.nbytes
    front = [
        (GOALS[goal](division.nbytes + beside, division.cycles, 0), number, division)
        for number, division in enumerate(divided.front())
    ]
    found = [division for _, _, division in sorted(front)[:PROMISING]]
    yield from found
    if not scorer.space.partition.planned:
        return
    for share in SHARES:
        tight = divided.fastest(found[0].nbytes, found[0].nbytes * share // 16)
        if tight:
            yield tight
