"""Assembled concatenations as options: their parts are computed in the bytes of the result."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from microgen import kernels
from microgen.compiler.codegens.base import Choice
from microgen.compiler.partition import Partition
from microgen.compiler.partition.assembly import Assembly, assemblies
from microgen.compiler.schedule import options, rounds
from microgen.compiler.schedule.options import Option, Space
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.moves.views import CopyAttrs
from microgen.kernels.base import Implementation
from microgen.kernels.cost import Cost, estimate
from microgen.target.cpu import Cpu

_COPY = "copy"


@dataclass(frozen=True, eq=False)
class AssembledOption(Option):
    """A concatenation that is assembled. Its cost is the cost of the copied parts. ``most`` is the
    size in bytes of the largest result that can be assembled."""

    most: int = 0

    @cached_property
    def scratch(self) -> int:
        """0 bytes: no kernel runs."""
        return 0

    @cached_property
    def in_place(self) -> tuple[tuple[int, int], ...]:
        """Empty: the parts have places of their own in the result."""
        return ()

    @property
    def shared_bytes(self) -> int:
        """Its parts have no bytes of their own."""
        return self.result_bytes

    @property
    def held_bytes(self) -> int:
        """The bytes of the largest result, because the result may be a part of a larger one. They
        are used as soon as there is one part."""
        return self.most

    @cached_property
    def memory(self) -> tuple[Hashable, ...]:
        """Everything that decides the memory of the call."""
        return (options.ASSEMBLED,)

    @cached_property
    def form(self) -> tuple[str, bool]:
        """A constant: no kernel computes the option, so it has no kernel's name and form."""
        return options.ASSEMBLED, False

    @property
    def is_assembled(self) -> bool:
        """Always true."""
        return True

    @cached_property
    def flash(self) -> tuple[tuple[Hashable, int], ...]:
        """The code of the copies."""
        assert self.cost is not None, "it is known"
        return (((self.result, options.ASSEMBLED), self.cost.code_bytes),)

    @cached_property
    def constants(self) -> tuple[tuple[Hashable, int], ...]:
        """Empty: no kernel lays out weights."""
        return ()

    def choices(self, reason: str) -> Iterator[Choice]:
        """The choice of its region."""
        for choice in super().choices(reason):
            yield replace(choice, is_assembled=True)


def space(partition: Partition, cpu: Cpu, *, prefers_shared: bool) -> Space:
    """The options for the nodes that the built-in kernels compute, with assembled concatenations
    before the kernels that copy all parts."""
    found = options.space(partition, cpu, prefers_shared=prefers_shared)
    every = assemblies(partition)
    most = max((partition.graph.types[name].nbytes for name in every), default=0)
    single = {
        name: (option(every[name], own[0].kernel, partition, cpu, most), *own)
        if name in every
        else own
        for name, own in found.single.items()
    }
    return replace(found, single=single, inside=rounds.inside(partition, cpu))


def option(
    found: Assembly, kernel: Implementation, partition: Partition, cpu: Cpu, most: int = 0
) -> AssembledOption:
    """The option for a concatenation; ``kernel`` is the one that would copy all parts."""
    graph = partition.graph
    copied = [part.tensor for part in found.parts if part.is_copied]
    known = [cost for name in copied if (cost := _copying(found.node, name, graph, cpu))]
    summed = ("instructions", "cycles", "code_bytes", "waited", "followed")
    whole = Cost(**{name: sum(getattr(cost, name) for cost in known) for name in summed})
    return AssembledOption((found.node,), kernel, False, whole, graph, most=most)


def _copying(node: Node, part: str, graph: Graph, cpu: Cpu) -> Cost | None:
    """The cost of copying a part; None if it is not known."""
    (kernel,) = kernels.registry()[_COPY]
    made = replace(node, op=_COPY, attrs=CopyAttrs(), inputs=(part,))
    types = dict.fromkeys((part, node.outputs[0]), graph.types[part])
    return estimate(kernel, made, graph.replace(types=types), cpu, shared=False)
