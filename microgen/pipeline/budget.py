"""One budget of RAM for several models: which of them compute in less memory, and more slowly.

Each model first gets what ``--optimize`` asks for. If that is too much for the budget, or for the
board, each offers its divisions into functions with rows, too, and the fastest combination of
offers that fits is taken. If none fits, the smallest is, so that users are told how many bytes are
missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from microgen.firmware import capacity, stack_size
from microgen.pipeline.planning import Part, offers, planned
from microgen.target.board import Board


@dataclass(frozen=True, slots=True)
class Offer:
    """What a model needs: bytes that only it has, bytes of a workspace that it shares, and cycles.
    ``limit`` is what it is told to keep to."""

    own: int
    common: int
    cycles: int
    limit: int


@dataclass(frozen=True, slots=True)
class Combination:
    """Offers, one of each model so far. Of shared workspaces the largest counts."""

    own: int = 0
    common: int = 0
    cycles: int = 0
    limits: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of workspaces, inputs and outputs."""
        return self.own + self.common

    def with_one(self, offer: Offer) -> Combination:
        """The combination with the offer of the next model."""
        return Combination(
            self.own + offer.own,
            max(self.common, offer.common),
            self.cycles + offer.cycles,
            (*self.limits, offer.limit),
        )


def kept(parts: Sequence[Part], board: Board, sharing: Collection[str]) -> list[Part]:
    """The models, planned again where all of them would need too much. Those in ``sharing`` share
    one workspace."""
    options = parts[0].options
    stacks = [stack_size.of(part.program, board, options).reserve for part in parts]
    limit = capacity.buffers_limit(board, options, len(parts)) - max(stacks)
    first = [_offer(part, sharing, _ram(part), part.schedule.score.cycles) for part in parts]
    if len(parts) == 1 or best([[one] for one in first], limit).nbytes <= limit:
        return list(parts)
    every = [
        [one, *(_offer(part, sharing, *found) for found in offers(part.model, board, part.options))]
        for one, part in zip(first, parts, strict=True)
    ]
    limits = best(every, limit).limits
    return [
        part if most >= _ram(part) else _smaller(part, board, most)
        for part, most in zip(parts, limits, strict=True)
    ]


def _smaller(part: Part, board: Board, most: int) -> Part:
    """The model with at most so many bytes of workspace, inputs and outputs, and as much stack."""
    calls = stack_size.calls(part.program, board, part.options)
    return planned(part.model, board, part.options, most + calls)


def _ram(part: Part) -> int:
    return part.plan.peak + part.program.io_bytes


def _offer(part: Part, sharing: Collection[str], nbytes: int, cycles: int) -> Offer:
    """What a schedule with so many bytes of workspace, inputs and outputs would need."""
    is_shared = part.options.name in sharing
    own = part.program.io_bytes if is_shared else nbytes
    return Offer(own, nbytes - own, cycles, nbytes)


def best(models: Iterable[Sequence[Offer]], limit: int) -> Combination:
    """The fastest combination of at most ``limit`` bytes; the smallest if there is none."""
    found = [Combination()]
    for each in models:
        found = _useful(one.with_one(offer) for one in found for offer in each)
    fitting = [one for one in found if one.nbytes <= limit]
    if fitting:
        return min(fitting, key=lambda one: (one.cycles, one.nbytes))
    return min(found, key=lambda one: (one.nbytes, one.cycles))


def _useful(combinations: Iterable[Combination]) -> list[Combination]:
    """Those that no other beats, the fastest first."""
    found: list[Combination] = []
    for one in sorted(combinations, key=lambda one: (one.cycles, one.own, one.common)):
        if not any(better.own <= one.own and better.common <= one.common for better in found):
            found.append(one)
    return found
