"""One budget of RAM for several models: which of them compute in less memory, and more slowly.

Each model first gets what ``--optimize`` asks for. If that is too much for the budget, or for the
board, each offers its divisions into functions with rows, too, and the fastest combination of
offers that fits is taken. If none fits, the smallest is, so that users are told how many bytes are
missing.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from microgen.compiler import schedule
from microgen.pipeline.planning import Part, offers, planned
from microgen.project.firmware import capacity, entry_stack, stack_size
from microgen.target.board import Board

MOST = 1000  # combinations of the first models that are tried with the next


@dataclass(frozen=True, slots=True)
class Offer:
    """What a model needs: bytes that only it has, bytes of a workspace that it shares, bytes of the
    stack, which all models share, and cycles. ``number`` counts the model's offers."""

    own: int
    common: int
    stack: int
    cycles: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Combination:
    """Offers, one of each model so far. Of what models share the largest counts."""

    own: int = 0
    common: int = 0
    stack: int = 0
    cycles: int = 0
    numbers: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of workspaces, inputs, outputs and the stack of calls."""
        return self.own + self.common + self.stack

    def with_one(self, offer: Offer) -> Combination:
        """The combination with the offer of the next model."""
        return Combination(
            self.own + offer.own,
            max(self.common, offer.common),
            max(self.stack, offer.stack),
            self.cycles + offer.cycles,
            (*self.numbers, offer.number),
        )


def kept(parts: Sequence[Part], board: Board, sharing: Collection[str]) -> list[Part]:
    """The models, planned again where all of them would need too much. Those in ``sharing`` share
    one workspace."""
    options, ports = parts[0].options, max(entry_stack.count(part.program) for part in parts)
    limit = capacity.buffers_limit(board, options, len(parts))
    limit -= stack_size.around(board, options, ports)
    first = [_first(part, board, sharing) for part in parts]
    if len(parts) == 1 or best([[one] for one in first], limit).nbytes <= limit:
        return list(parts)
    found = [offers(part.model, board, part.options) for part in parts]
    every = [
        [one, *_offers(part, sharing, own)]
        for part, one, own in zip(parts, first, found, strict=True)
    ]
    numbers = best(every, limit).numbers
    return [
        _smaller(part, board, own[number - 1], len(own)) if number else part
        for part, number, own in zip(parts, numbers, found, strict=True)
    ]


def _smaller(part: Part, board: Board, offer: schedule.Offer, considered: int) -> Part:
    given = offer.schedule(part.options.optimize, considered)
    return planned(part.model, board, part.options, given=given)


def _first(part: Part, board: Board, sharing: Collection[str]) -> Offer:
    """What the model needs as it is."""
    nbytes = part.plan.peak + part.program.io_bytes
    own = _own(part, sharing, nbytes)
    stack = stack_size.calls(part.program, board, part.options)
    return Offer(own, nbytes - own, stack, part.schedule.score.cycles)


def _offers(
    part: Part, sharing: Collection[str], found: Iterable[schedule.Offer]
) -> Iterator[Offer]:
    for number, one in enumerate(found, 1):
        own = _own(part, sharing, one.nbytes)
        yield Offer(own, one.nbytes - own, one.stack, one.cycles, number)


def _own(part: Part, sharing: Collection[str], nbytes: int) -> int:
    """Those of a model's bytes that it does not share."""
    return part.program.io_bytes if part.options.name in sharing else nbytes


def best(models: Iterable[Sequence[Offer]], limit: int) -> Combination:
    """The fastest combination of at most ``limit`` bytes; the smallest if there is none. Of more
    than ``MOST`` combinations of the first models, some between the fastest and the smallest are
    left out."""
    found = [Combination()]
    for each in models:
        found = _some(_useful(one.with_one(offer) for one in found for offer in each))
    fitting = [one for one in found if one.nbytes <= limit]
    if fitting:
        return min(fitting, key=lambda one: (one.cycles, one.nbytes))
    return min(found, key=lambda one: (one.nbytes, one.cycles))


def _useful(combinations: Iterable[Combination]) -> list[Combination]:
    """Those that no other beats, the fastest first."""
    found: list[Combination] = []
    least: dict[tuple[int, int], int] = {}  # own bytes, by what is shared
    order = sorted(combinations, key=lambda one: (one.cycles, one.own, one.common, one.stack))
    for one in order:
        shared = one.common, one.stack
        if not any(
            own <= one.own and common <= one.common and stack <= one.stack
            for (common, stack), own in least.items()
        ):
            found.append(one)
            least[shared] = min(one.own, least.get(shared, sys.maxsize))
    return found


def _some(found: list[Combination]) -> list[Combination]:
    """At most ``MOST`` of them, with the smallest, in the same order."""
    if len(found) <= MOST:
        return found
    smallest = min(found, key=lambda one: (one.nbytes, one.cycles))
    step = -(-len(found) // (MOST - 1))
    return [one for i, one in enumerate(found) if i % step == 0 or one is smallest]
