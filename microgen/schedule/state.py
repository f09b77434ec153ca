"""A candidate of the search: one option for each node, and how it becomes regions and a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from microgen.codegens.base import Region
from microgen.partition import Partition
from microgen.schedule.options import BUILTIN, Option, Space, choice_of
from microgen.schedule.types import Ram, Score

Picks = Mapping[str, Option]  # by the first result of each node
RamOf = Callable[[Partition], Ram]


def scheduled(space: Space, picks: Picks, reasons: Mapping[str, str]) -> Partition:
    """The partition with the choices that were picked. ``reasons`` are by an option's result."""
    found: list[Region] = []
    for region in space.partition.regions:
        if region.codegen != BUILTIN:
            found.append(region)
            continue
        options = dict.fromkeys(picks[node.outputs[0]] for node in region.nodes)
        if any(option.nodes[-1] not in region.nodes for option in options):
            continue  # it is computed with a later region
        nodes = tuple(node for option in options for node in option.nodes)
        choices = tuple(choice_of(option, reasons.get(option.result, "")) for option in options)
        found.append(replace(region, nodes=nodes, choices=choices))
    return replace(space.partition, regions=tuple(found))


@dataclass(slots=True)
class Scorer:
    """Scores candidates. RAM, which takes lowering and planning, is computed once for all that
    need the same memory, and only if asked for."""

    space: Space
    ram_of: RamOf
    rams: dict[tuple[object, ...], Ram] = field(default_factory=dict)

    def ram(self, picks: Picks) -> Ram:
        """The RAM of a candidate."""
        key = _memory(picks)
        if key not in self.rams:
            self.rams[key] = self.ram_of(scheduled(self.space, picks, {}))
        return self.rams[key]

    def is_planned(self, picks: Picks) -> bool:
        """Whether the RAM of a candidate is known."""
        return _memory(picks) in self.rams

    def least_ram(self, picks: Picks, base: Picks) -> int:
        """The RAM of a candidate, or, if it was not planned, the least that it could be: that of
        ``base`` without all memory that a changed option no longer needs."""
        key = _memory(picks)
        if key in self.rams:
            return self.rams[key].peak
        changed = {
            o.result: (base[o.result], o) for o in distinct(picks) if base[o.result] is not o
        }
        return self.ram(base).peak - sum(_saved(old, new) for old, new in changed.values())

    def cheap(self, picks: Picks) -> tuple[int, int]:
        """Cycles and flash of a candidate."""
        options = distinct(picks)
        return time(options)[1], flash(options)

    @property
    def bound(self) -> int | None:
        """The least RAM bound of the candidates that were planned; None if none was."""
        return min((ram.bound for ram in self.rams.values()), default=None)


def score(picks: Picks) -> Score:
    """What a candidate costs besides RAM."""
    options = distinct(picks)
    unmeasured = sum(len(option.nodes) for option in options if option.cost is None)
    return Score(*time(options), flash(options), unmeasured)


def _memory(picks: Picks) -> tuple[object, ...]:
    return tuple(option.memory for option in distinct(picks))


def _saved(old: Option, new: Option) -> int:
    """The most bytes by which the peak can fall if ``new`` replaces ``old``."""
    inner = [node.outputs[0] for node in new.nodes[:-1]]
    own = sum(new.graph.types[name].nbytes for name in inner)
    if old.memory[2:] != new.memory[2:]:
        own += new.graph.types[new.result].nbytes
    return own + max(0, old.scratch - new.scratch)


def distinct(picks: Picks) -> Sequence[Option]:
    """The options picked, each once, in the order of the nodes."""
    return list({id(option): option for option in picks.values()}.values())


def time(options: Sequence[Option]) -> tuple[int, int]:
    """Instructions and modelled cycles of an inference, of options with measured costs."""
    costs = [option.cost for option in options if option.cost]
    return sum(c.instructions for c in costs), sum(c.cycles for c in costs)


def flash(options: Sequence[Option]) -> int:
    """Bytes of the functions' code, each function and what operators share once, and of the
    constants."""
    functions = {option.function: option.cost.code_bytes for option in options if option.cost}
    shared = {
        (option.kernel.symbol, option.is_shared): option.cost.shared_bytes
        for option in options
        if option.cost
    }
    constants = {c: nbytes for option in options for c, nbytes in option.constants.items()}
    return sum(functions.values()) + sum(shared.values()) + sum(constants.values())
