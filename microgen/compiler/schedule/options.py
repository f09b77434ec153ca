"""The ways to compute each node of a partition: implementations, their forms, and patterns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakValueDictionary

from microgen import kernels
from microgen.compiler.codegens.base import Choice, Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.schedule.score import Score
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.kernels import patterns
from microgen.kernels.base import Fields, Implementation
from microgen.kernels.cost import Cost, estimate
from microgen.kernels.fitting import Fitting, fitting
from microgen.kernels.requantization import transforms
from microgen.target.cpu import Cpu

ASSEMBLED = "assembled"  # the kind of such options
NOISE = 0.05  # estimates that differ by less say nothing about which option is better


@dataclass(frozen=True, eq=False)
class FlashPart:
    """A part of flash, with its bytes. Equal parts of options are one object: searches count parts
    often, and to compare their many fields each time would take longer than everything else."""

    nbytes: int


# A part is known as long as an option has it.
_parts: WeakValueDictionary[Hashable, FlashPart] = WeakValueDictionary()


@dataclass(frozen=True, eq=False)
class Option:
    """One way to compute a node, or nodes that follow one another.

    ``cost`` is None if it was not measured. ``refusals`` are the refusals of implementations before
    this one in the registry. ``twin`` is the same implementation in its other form, which has the
    same memory, parameters and constants.
    """

    nodes: tuple[Node, ...]
    kernel: Implementation
    is_shared: bool
    cost: Cost | None
    graph: Graph
    refusals: tuple[Refusal[Node], ...] = ()
    twin: Option | None = field(default=None, repr=False)

    @cached_property
    def joined(self) -> Node:
        """The nodes as the implementation sees them."""
        return self.twin.joined if self.twin else patterns.joined(self.nodes)

    @cached_property
    def scratch(self) -> int:
        """Bytes of memory that only the call uses."""
        if self.twin:
            return self.twin.scratch
        return self.kernel.scratch(self.joined, self.graph)

    @cached_property
    def in_place(self) -> tuple[tuple[int, int], ...]:
        """The inputs whose place the result may take, with their lags in bytes."""
        if self.twin:
            return self.twin.in_place
        return tuple(self.kernel.in_place(self.joined, self.graph).items())

    @cached_property
    def calls(self) -> tuple[tuple[tuple[int, ...], Fields], ...]:
        """The kernel's calls: positions of inputs, and parameters."""
        return self.twin.calls if self.twin else self.kernel.calls(self.joined, self.graph)

    @property
    def taken(self) -> tuple[tuple[str, int], ...]:
        """The inputs of ``in_place`` by their names, with their lags."""
        return tuple((self.joined.inputs[position], lag) for position, lag in self.in_place)

    @property
    def shared_bytes(self) -> int:
        """The most bytes that the result may share with an input."""
        return max((self.result_bytes - lag for _, lag in self.in_place), default=0)

    @cached_property
    def memory(self) -> tuple[Hashable, ...]:
        """Everything that decides the memory of the call."""
        return len(self.nodes), self.scratch, self.in_place

    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
        return self.graph.types[self.result].nbytes

    @property
    def inner_bytes(self) -> int:
        """Bytes of the tensors between the nodes of a pattern."""
        return sum(self.graph.types[node.outputs[0]].nbytes for node in self.nodes[:-1])

    @cached_property
    def flash(self) -> tuple[tuple[Hashable, int], ...]:
        """The parts of the option in flash, with their bytes: the operator's function, the code
        that all operators of the kernel share, and constants. Options share equal parts."""
        found = [*self.constants]
        if self.cost:
            found.append((self._function(), self.cost.code_bytes))
            found.append(((self.kernel.symbol, self.is_shared), self.cost.shared_bytes))
            found += [((core, self._source), nbytes) for core, nbytes in self.cost.cores]
        return tuple(found)

    @cached_property
    def parts_in_flash(self) -> tuple[FlashPart, ...]:
        """``flash`` with one object for equal parts."""
        return tuple(_parts.setdefault(part, FlashPart(part[1])) for part in self.flash)

    @property
    def _source(self) -> str:
        """The C source that has the code: the shared header of kernels, or "" for the operators'
        source."""
        return self.kernel.code.header if self.is_shared else ""

    def _function(self) -> Hashable:
        """A key that is equal for two calls of one function."""
        ops = tuple((node.op, len(node.inputs)) for node in self.nodes)
        return ops, self.kernel.symbol, self.is_shared, self.calls, self.joined.target

    @cached_property
    def constants(self) -> tuple[tuple[Hashable, int], ...]:
        """The bytes of the constants that the implementation lays out, by their sources."""
        if self.twin:
            return self.twin.constants
        return tuple(
            (
                (constant.sources, constant.transform, constant.arguments),
                transforms.nbytes(constant, self.graph),
            )
            for constant in self.kernel.constants(self.joined, self.graph)
            if not constant.is_absent
        )

    @property
    def stored(self) -> tuple[tuple[Hashable, int], ...]:
        """The parts of ``flash`` that are constants."""
        return self.constants

    @property
    def cycles(self) -> int:
        """Modelled cycles of a call; 0 if they are not known."""
        return self.cost.cycles if self.cost else 0

    @property
    def code(self) -> int:
        """Bytes of code, including bytes that it may share with other options."""
        return self.cost.bytes if self.cost else 0

    @property
    def own_code(self) -> int:
        """Bytes of code that it shares with no other option."""
        return self.cost.code_bytes if self.cost else 0

    def choices(self, reason: str) -> Iterator[Choice]:
        """The choices of a region that has the option."""
        symbol = self.kernel.symbol
        yield Choice(self.nodes, symbol, self.is_shared, reason=reason, refusals=self.refusals)

    @cached_property
    def form(self) -> tuple[str, bool]:
        """The implementation, and whether it is out of line."""
        return self.kernel.symbol, self.is_shared

    @property
    def is_assembled(self) -> bool:
        """Whether nothing calls the kernel: see ``assembled``."""
        return False

    @property
    def held_bytes(self) -> int:
        """The most bytes that it takes before it is computed or after it was read."""
        return 0

    @property
    def is_pattern(self) -> bool:
        """Whether it computes several nodes."""
        return len(self.nodes) > 1

    @property
    def result(self) -> str:
        """The tensor that it computes, which also names it."""
        return self.nodes[-1].outputs[0]


_NOTHING = Score()


@dataclass(frozen=True, slots=True)
class Space:
    """All options: ``single`` has the options of each node, by the name of its first result,
    ``joint`` has the options for several nodes. Both are in the registry's order. ``needed`` are
    the bytes of constants that no choice saves. ``lean`` has options with scratch memory instead of
    an array on the stack, which are otherwise not better than the ones in ``single``.
    ``unmeasured`` has kernels that fit, too, but are not options, because they have no measured
    costs and other kernels have. ``inside`` are the costs of layers inside loops and branches."""

    partition: Partition
    single: Mapping[str, tuple[Option, ...]]
    joint: tuple[Option, ...]
    needed: int
    lean: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    unmeasured: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inside: Score = _NOTHING

    def without_stack(self, name: str) -> Sequence[Option]:
        """The options of a node that have no array on the stack; all, if each has one."""
        every = self.single[name]
        found = [one for one in every if not one.kernel.stack]
        return [*found, *self.lean.get(name, ())] or every


def space(partition: Partition, cpu: Cpu, *, prefers_shared: bool) -> Space:
    """The options for the nodes that the built-in kernels compute.

    Kernels without a measured cost rank last: one of them is an option only if none that fits has a
    cost. Then it is the first in the registry's order, in one form: the out-of-line one if
    ``prefers_shared``."""
    graph = partition.graph
    own = [region for region in partition.regions if region.codegen == BUILTIN]
    nodes = [node for region in own for node in region.nodes]
    found = {
        node.outputs[0]: _options((node,), graph, cpu, prefers_shared=prefers_shared)
        for node in nodes
    }
    single = {name: tuple(ways.options) for name, ways in found.items()}
    lean = {name: tuple(ways.lean) for name, ways in found.items() if ways.lean}
    last = {name: tuple(ways.unmeasured) for name, ways in found.items() if ways.unmeasured}
    joint = tuple(_joint(own, graph, cpu))
    return Space(partition, single, joint, _needed(single.values()), lean, last)


def _needed(every: Iterable[Sequence[Option]]) -> int:
    """The bytes of the smallest constants of each node, each constant once."""
    smallest = (min((one.constants for one in options), key=_nbytes) for options in every)
    return _nbytes({constant for constants in smallest for constant in constants})


def _nbytes(parts: Iterable[tuple[Hashable, int]]) -> int:
    return sum(nbytes for _, nbytes in parts)


@dataclass(slots=True)
class _Ways:
    """The options of a node, the options that add nothing but have no array on the stack, and the
    names of kernels without costs, if others have costs."""

    options: list[Option] = field(default_factory=list)
    lean: list[Option] = field(default_factory=list)
    unmeasured: list[str] = field(default_factory=list)


def _options(nodes: tuple[Node, ...], graph: Graph, cpu: Cpu, *, prefers_shared: bool) -> _Ways:
    joined = patterns.joined(nodes)
    found = fitting(joined, graph, cpu)
    ways, compared = _Ways(), list[Option]()
    for kernel in found.kernels:
        more = measured(nodes, kernel, found, graph, cpu)
        useless = [option for option in more if _adds_nothing(option, compared)]
        ways.lean += [option for option in useless if not option.kernel.stack]
        useful = [option for option in more if option not in useless]
        ways.options += useful
        # Out-of-line forms are always of use, because other nodes may share them. So an option's
        # own code is compared with all code of the options before it.
        compared += [option for option in useful if not option.is_shared]
        ways.unmeasured += [] if more else [kernel.symbol]
    if not ways.options:
        first = found.kernels[0]
        refusals = found.before(first, joined.op)
        return _Ways([Option(nodes, first, prefers_shared, None, graph, refusals)])
    # These options save stack only if another option has an array on it.
    if not any(option.kernel.stack for option in ways.options):
        ways.lean = []
    return ways


def fastest(node: Node, graph: Graph, cpu: Cpu) -> Option:
    """The node's fastest option, or the first if no cost is known."""
    return fastest_of(_options((node,), graph, cpu, prefers_shared=False).options)


def fastest_of(options: Sequence[Option]) -> Option:
    """The first option in the registry's order that is, by its estimates, as fast as any."""
    least = min(option.cycles for option in options)
    return next(option for option in options if option.cycles * (1 - NOISE) <= least)


def _adds_nothing(option: Option, earlier: Sequence[Option]) -> bool:
    """Whether an option is, by its estimates, no better than one of ``earlier``, which are before
    it in the registry and not out of line."""
    if option.is_shared or not earlier:
        return False
    cycles, code, scratch = option.cycles, option.own_code, option.scratch
    return any(
        cycles > other.cycles * (1 - NOISE)
        and code > other.code * (1 - NOISE)
        and (
            scratch > other.scratch
            or (scratch == other.scratch and option.kernel.stack >= other.kernel.stack)
        )
        and option.in_place == other.in_place
        # It comes last, because laying out constants takes longer than everything else.
        and code > other.code * (1 - NOISE) + _saved(option, other)
        for other in earlier
    )


def _saved(option: Option, other: Option) -> int:
    """The bytes by which an option has smaller constants than the other."""
    return max(0, _nbytes(other.constants) - _nbytes(option.constants))


def measured(
    nodes: tuple[Node, ...], kernel: Implementation, found: Fitting, graph: Graph, cpu: Cpu
) -> list[Option]:
    """The forms of the implementation whose costs are known."""
    joined = patterns.joined(nodes)
    refusals = found.before(kernel, joined.op)
    forms = [(form, estimate(kernel, joined, graph, cpu, shared=form)) for form in (False, True)]
    made: list[Option] = []
    for form, cost in forms:
        if cost:
            made.append(Option(nodes, kernel, form, cost, graph, refusals, *made[:1]))
    return made


def of_choice(choice: Choice, nodes: tuple[Node, ...], graph: Graph, cpu: Cpu) -> Option:
    """The option that a choice names for the nodes, with its cost if that is known."""
    found = fitting(patterns.joined(nodes), graph, cpu)
    kernel = found.named(choice.symbol)
    assert kernel is not None, "it was checked"
    forms = measured(nodes, kernel, found, graph, cpu)
    unknown = Option(nodes, kernel, choice.is_shared, None, graph)
    return next((form for form in forms if form.is_shared == choice.is_shared), unknown)


def _joint(own: Sequence[Region], graph: Graph, cpu: Cpu) -> Iterator[Option]:
    """The options for patterns of nodes that are regions by themselves."""
    chains = patterns.Chains(graph)
    alone = {region.nodes[0].outputs[0] for region in own if len(region.nodes) == 1}
    last_ops = {pattern[-1] for pattern in kernels.joint_ops()}
    for region in own:
        # Chains are looked for only where one can end, because most ops end none.
        if region.nodes[-1].op not in last_ops:
            continue
        for pattern in kernels.joint_ops():
            nodes = chains.ending(region.nodes[-1], pattern)
            if nodes and all(node.outputs[0] in alone for node in nodes):
                found = fitting(patterns.joined(nodes), graph, cpu)
                for kernel in found.kernels:
                    yield from measured(nodes, kernel, found, graph, cpu)
