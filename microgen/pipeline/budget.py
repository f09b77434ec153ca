"""One budget of RAM for several models: decides which models compute in less memory, but slower.

Each model first gets its schedule for ``--optimize``. If these need too much for the budget or the
board, each model offers its divisions into functions with rows, too. The fastest combination of
offers that fits is used. If none fits, the smallest is used, so that the error states the number of
missing bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from microgen.compiler.schedule import Offer
from microgen.pipeline.planning import PlannedModel, offers, with_schedule
from microgen.planner.program.ram import Ram
from microgen.project.firmware import capacity, entry_stack, stack_size
from microgen.target.board import Board

MOST = 1000  # combinations of the first models that are tried with the next


@dataclass(frozen=True, slots=True)
class Combination:
    """Offers, one of each model so far, with the RAM and the cycles of them together."""

    ram: Ram = field(default_factory=Ram)
    cycles: int = 0
    offers: tuple[Offer, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of workspaces, inputs, outputs and the stack of calls."""
        return self.ram.total

    def with_one(self, offer: Offer) -> Combination:
        """The combination with the offer of the next model."""
        return Combination(
            self.ram.with_model(offer.ram), self.cycles + offer.cycles, (*self.offers, offer)
        )


def kept(
    parts: Sequence[PlannedModel], board: Board, sharing: Collection[str]
) -> list[PlannedModel]:
    """The models. They are planned again if all of them together need too much. The models in
    ``sharing`` share one workspace."""
    if len(parts) == 1:  # planned with the limit of a single model
        return list(parts)
    options, ports = parts[0].options, max(entry_stack.count(part.program) for part in parts)
    limit = capacity.ram_limit(board, options, ports, len(parts))
    # Offers begin with the schedules for --optimize, which are kept if all of them fit.
    first = [_first(part, board, sharing) for part in parts]
    if best([[one] for one in first], limit).nbytes <= limit:
        return list(parts)
    others = [offers(part.partitioned, board) for part in parts]
    every = [
        [one, *(_sharing(other, part, sharing) for other in found)]
        for part, one, found in zip(parts, first, others, strict=True)
    ]
    return [
        _smaller(part, board, offer, len(found))
        for part, offer, found in zip(parts, best(every, limit).offers, others, strict=True)
    ]


def _smaller(part: PlannedModel, board: Board, offer: Offer, considered: int) -> PlannedModel:
    given = offer.schedule(part.options.optimize, considered)
    return with_schedule(part.partitioned, given, board) if given else part


def _first(part: PlannedModel, board: Board, sharing: Collection[str]) -> Offer:
    stack = stack_size.calls(part.program, board, part.options)
    ram = Ram(part.plan.peak, part.program.io_bytes, stack=stack)
    return _sharing(Offer(ram, part.schedule.score.cycles), part, sharing)


def _sharing(offer: Offer, part: PlannedModel, sharing: Collection[str]) -> Offer:
    """The offer. Its workspace is shared if the model's own workspace is."""
    if part.options.name not in sharing:
        return offer
    # A division may have its tensors elsewhere than the schedule, but the model's bytes of inputs
    # and outputs are counted as in its schedule.
    own = part.program.io_bytes
    return replace(offer, ram=replace(offer.ram, shared=offer.ram.arena_io - own))


def best(models: Iterable[Sequence[Offer]], limit: int) -> Combination:
    """The fastest combination of at most ``limit`` bytes; the smallest if there is none. If there
    are more than ``MOST`` combinations of the first models, some between the fastest and the
    smallest are left out."""
    found = [Combination()]
    for each in models:
        # Combinations are limited, because they would multiply with each model.
        found = _some(_useful(one.with_one(offer) for one in found for offer in each))
    fitting = [one for one in found if one.nbytes <= limit]
    if fitting:
        return min(fitting, key=lambda one: (one.cycles, one.nbytes))
    return min(found, key=lambda one: (one.nbytes, one.cycles))


def _useful(combinations: Iterable[Combination]) -> list[Combination]:
    """The Pareto-optimal combinations, the fastest first."""
    found: list[Combination] = []
    least: dict[tuple[int, int], int] = {}  # by shared bytes and stack: the least own bytes

    def order(one: Combination) -> tuple[int, int, int, int]:
        return one.cycles, one.ram.own, one.ram.shared, one.ram.stack

    for one in sorted(combinations, key=order):
        ram = one.ram
        if not any(
            own <= ram.own and shared <= ram.shared and stack <= ram.stack
            for (shared, stack), own in least.items()
        ):
            found.append(one)
            least[ram.shared, ram.stack] = min(ram.own, least.get((ram.shared, ram.stack), ram.own))
    return found


def _some(found: list[Combination]) -> list[Combination]:
    """At most ``MOST`` of the combinations, in the same order."""
    if len(found) <= MOST:
        return found
    # The smallest is always kept, because it may be the only one that fits.
    smallest = min(found, key=lambda one: (one.nbytes, one.cycles))
    step = -(-len(found) // (MOST - 1))
    return [one for i, one in enumerate(found) if i % step == 0 or one is smallest]
