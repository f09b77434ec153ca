"""Schedules, and the candidates of the search: one option for each node, and how these become
regions and a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.schedule.options import FlashPart, Option, Space
from microgen.compiler.schedule.score import Score
from microgen.compiler.schedule.stacks import StackOf, most, unknown
from microgen.kernels.stack import DOUBT
from microgen.planner.program.ram import Ram


@dataclass(frozen=True, slots=True)
class Schedule:
    """A partition whose regions are in the order of their calls and have their choices.

    ``goal`` is the goal of ``--optimize``, or "file" if a file decided. ``considered`` counts the
    schedules that were compared, this one included. ``bound`` is the certificate: a lower bound of
    the RAM of all schedules of the search, or None if it is not known.
    """

    partition: Partition
    goal: str
    score: Score
    considered: int
    bound: int | None = None


Picks = Mapping[str, Option]  # by the first result of each node
Worth = Callable[[int], bool]  # of a bound in bytes; if one is not worth it, no larger one is
RamOf = Callable[[Partition, Worth], Ram]


@dataclass(frozen=True)
class Candidate:
    """An option for each node. The costs are counted once, so that the time to score a change
    depends only on the number of its options."""

    picks: Picks
    # The candidate and the change that it was made of, until its costs are counted from theirs.
    origin: list[tuple[Candidate, Picks]] = field(default_factory=list, compare=False, repr=False)

    def after(self, change: Picks) -> Candidate:
        """The candidate with other options for some nodes."""
        return Candidate({**self.picks, **change}, [(self, change)])

    @cached_property
    def _counted(self) -> tuple[tuple[int, int], Counter[FlashPart], int]:
        """``time``, ``parts`` and ``flash``."""
        if not self.origin:
            costs = [option.cost for option in self.options if option.cost]
            parts = Counter(part for option in self.options for part in option.parts_in_flash)
            time = sum(c.instructions for c in costs), sum(c.cycles for c in costs)
            return time, parts, sum(part.nbytes for part in parts)
        # Few options differ, so counting all of them again would take longer.
        ((before, change),) = self.origin
        self.origin.clear()
        gone, come = before.replaced(change)
        parts, (instructions, cycles) = before.parts.copy(), before.time
        for options, step in ((come, 1), (gone, -1)):
            instructions += step * sum(o.cost.instructions for o in options if o.cost)
            cycles += step * sum(o.cost.cycles for o in options if o.cost)
            for part in (part for option in options for part in option.parts_in_flash):
                parts[part] += step
                if not parts[part]:
                    del parts[part]
        return (instructions, cycles), parts, before.cheap_after(change)[1]

    def replaced(self, change: Picks) -> tuple[list[Option], list[Option]]:
        """The options that a change removes, and the options that it adds."""
        return _each(self.picks[name] for name in change), _each(change.values())

    @cached_property
    def options(self) -> list[Option]:
        """The options, each once, in the order of the nodes."""
        return _each(self.picks.values())

    @cached_property
    def by_form(self) -> Mapping[tuple[str, bool], Sequence[Option]]:
        """The options for single nodes by implementation and form."""
        found: dict[tuple[str, bool], list[Option]] = {}
        for option in self.options:
            if not option.is_pattern:
                found.setdefault(option.form, []).append(option)
        return found

    @property
    def time(self) -> tuple[int, int]:
        """Instructions and modelled cycles of an inference, of options with measured costs."""
        return self._counted[0]

    @property
    def parts(self) -> Counter[FlashPart]:
        """How many options need each part of flash."""
        return self._counted[1]

    @property
    def flash(self) -> int:
        """Bytes of the functions' code and of the constants. Each function, and the code that
        operators share, counts once."""
        return self._counted[2]

    @property
    def cheap(self) -> tuple[int, int]:
        """Cycles and flash."""
        return self.time[1], self.flash

    def cheap_after(self, change: Picks) -> tuple[int, int]:
        """Cycles and flash of the candidate after a change."""
        gone, come = self.replaced(change)
        cycles = sum(o.cost.cycles for o in come if o.cost)
        cycles -= sum(o.cost.cycles for o in gone if o.cost)
        counts: dict[FlashPart, int] = {}
        for options, step in ((come, 1), (gone, -1)):
            for option in options:
                for part in option.parts_in_flash:
                    counts[part] = counts.get(part, 0) + step
        flash, parts = 0, self.parts
        for part, difference in counts.items():
            if difference:
                before = parts[part]
                # A part costs flash once, however many options need it.
                flash += part.nbytes * ((before + difference > 0) - (before > 0))
        return self.time[1] + cycles, self.flash + flash

    @property
    def score(self) -> Score:
        """The costs other than RAM, without those of loops and branches."""
        unmeasured = sum(len(option.nodes) for option in self.options if option.cost is None)
        costs = [option.cost for option in self.options if option.cost]
        lines = sum(c.waited for c in costs), sum(c.followed for c in costs)
        constants = dict.fromkeys(one for option in self.options for one in option.stored)
        code = self.flash - sum(nbytes for _, nbytes in constants)
        return Score(*self.time, self.flash, unmeasured, *lines, code)

    @cached_property
    def memory(self) -> tuple[Hashable, ...]:
        """Everything that decides the memory of its calls."""
        return tuple(option.memory for option in self.options)


def _each(options: Iterable[Option]) -> list[Option]:
    return list(dict.fromkeys(options))  # options are compared by identity


Known = dict[tuple[int, tuple[Option, ...]], Region]  # by the number and the options of a region


def scheduled(
    space: Space, picks: Picks, reasons: Mapping[str, str], known: Known | None = None
) -> Partition:
    """The partition with the choices that were picked. ``reasons`` are by an option's result. The
    regions of earlier calls with the same ``known`` are the same objects, if there are no reasons.
    """
    found: list[Region] = []
    known = {} if known is None else known
    for number, region in enumerate(space.partition.regions):
        if region.codegen != BUILTIN:
            found.append(region)
            continue
        options: tuple[Option, ...]
        if len(region.nodes) == 1:
            options = (picks[region.nodes[0].outputs[0]],)
        else:
            options = tuple(_each(picks[node.outputs[0]] for node in region.nodes))
        if any(option.nodes[-1] not in region.nodes for option in options):
            continue  # it is computed with a later region
        if (number, options) not in known:
            known[number, options] = _chosen(region, options, reasons)
        found.append(known[number, options])
    return replace(space.partition, regions=tuple(found))


def _chosen(region: Region, options: Sequence[Option], reasons: Mapping[str, str]) -> Region:
    nodes = tuple(node for option in options for node in option.nodes)
    choices = tuple(
        choice for option in options for choice in option.choices(reasons.get(option.result, ""))
    )
    return replace(region, nodes=nodes, choices=choices)


@dataclass(slots=True)
class Scorer:
    """Knows the RAM of candidates, which takes lowering and planning. The RAM is computed on
    demand, and once for all candidates that need the same memory. ``stack_of`` gives the stack of
    an option. ``shared`` has the results of other scorers of the same space, which are not computed
    again. If it ``plans_all``, it plans every candidate instead of using bounds, so that all
    scorers know the same RAM. ``plans`` counts the planned candidates."""

    space: Space
    ram_of: RamOf
    stack_of: StackOf = unknown
    plans_all: bool = False
    plans: int = 0
    rams: dict[tuple[Hashable, ...], Ram] = field(default_factory=dict)
    shared: dict[tuple[Hashable, ...], Ram] = field(default_factory=dict)
    _regions: Known = field(default_factory=dict)
    _counted: tuple[Candidate, Counter[tuple[int, int]]] | None = None
    _known_ram: tuple[Candidate, Ram] | None = None

    def ram(self, candidate: Candidate) -> Ram:
        """Bytes of RAM; planned once for all candidates that need the same memory."""
        # A look-up takes as long as the candidate has options, so the last result is kept.
        if self._known_ram is None or self._known_ram[0] is not candidate:
            self._known_ram = candidate, self._known(candidate, _always)
        return self._known_ram[1]

    def has_less(self, candidate: Candidate, worth: Worth) -> bool:
        """Whether ``worth`` is true of a candidate's workspace, inputs and outputs. It is planned
        only if ``worth`` is true of its bound."""
        return worth(self._known(candidate, _always if self.plans_all else worth).arena_io)

    def _known(self, candidate: Candidate, worth: Worth) -> Ram:
        """The RAM of a candidate, or its bound."""
        key = candidate.memory
        ram = self.shared.get(key)
        if ram is None or (not ram.is_planned and worth(ram.least)):
            ram = self.ram_of(scheduled(self.space, candidate.picks, {}, self._regions), worth)
        before = self.rams.get(key)
        self.plans += ram.is_planned and not (before and before.is_planned)
        self.rams[key] = self.shared[key] = ram
        return ram

    def is_planned(self, candidate: Candidate) -> bool:
        """Whether the RAM of a candidate is known, here or in a scorer that shares its results."""
        ram = self.shared.get(candidate.memory)
        return ram is not None and ram.is_planned

    def least_ram(self, candidate: Candidate, change: Picks) -> int:
        """A lower bound of the RAM after a change: the candidate's, without all memory that the new
        options do not need. It is exact if the memory is the same."""
        gone, come = candidate.replaced(change)
        return self.ram(candidate).arena_io - _saved(gone, come)

    def total(self, candidate: Candidate) -> int:
        """The RAM of a candidate with the stack that is reserved for its calls."""
        return self.need(candidate).total

    def need(self, candidate: Candidate) -> Ram:
        """The RAM of a candidate. Its stack is the one reserved for its calls."""
        # The same fraction that stack_size reserves in addition.
        stack = self.stack(candidate)
        return replace(self.ram(candidate), stack=stack + stack // DOUBT)

    def stack(self, candidate: Candidate) -> int:
        """The stack of a candidate's calls."""
        return most(self._stacks(candidate))

    def stack_after(self, candidate: Candidate, change: Picks) -> int:
        """The stack of a candidate's calls after a change, without a look at all of them."""
        gone, come = candidate.replaced(change)
        counts = self._stacks(candidate).copy()
        counts.update(map(self.stack_of, come))
        counts.subtract(map(self.stack_of, gone))
        return most(stack for stack, count in counts.items() if count > 0)

    def _stacks(self, candidate: Candidate) -> Counter[tuple[int, int]]:
        """How many options have each stack."""
        # Searches ask for the stacks of one candidate many times.
        if self._counted is None or self._counted[0] is not candidate:
            self._counted = candidate, Counter(map(self.stack_of, candidate.options))
        return self._counted[1]


def _always(_bound: int) -> bool:
    return True


def _saved(gone: Iterable[Option], come: Iterable[Option]) -> int:
    """The most bytes by which the peak can fall: scratch, the tensors between the nodes of a
    pattern, results that may now take the place of an input, and bytes that are no longer held for
    other calls."""
    before, after = list(gone), list(come)
    inner = sum(option.inner_bytes for option in after)
    scratch = sum(o.scratch for o in before) - sum(o.scratch for o in after)
    places = sum(max(0, o.shared_bytes) for o in after) + sum(o.held_bytes for o in before)
    return inner + max(0, scratch) + places
