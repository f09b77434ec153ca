"""The costs of loops and branches, whose layers no search chooses: they have their fastest
kernels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace

from microgen.compiler.partition import Partition
from microgen.compiler.passes.views import roots
from microgen.compiler.schedule.options import Option, fastest
from microgen.compiler.schedule.score import Score
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.control.branch import BranchAttrs
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.target.cpu import Cpu


def inside(partition: Partition, cpu: Cpu) -> Score:
    """The costs of all layers inside loops and branches. A loop counts with all of its rounds, or
    with the most that it may have; a branch with the graph that takes more cycles. Parts of flash
    that several layers need count once, but not those that layers outside need, too."""
    counted = _Counted(cpu)
    total = Score()
    for region in partition.regions:
        for node in region.nodes:
            if isinstance(node.attrs, LoopAttrs | BranchAttrs):
                total += counted.of(node)
    flash = sum(nbytes for _, nbytes in counted.parts)
    return replace(total, flash=flash, code=flash - sum(n for _, n in counted.constants))


@dataclass(slots=True)
class _Counted:
    """``parts`` are the parts of flash of all layers so far, with the ``constants``."""

    cpu: Cpu
    parts: set[tuple[Hashable, int]] = field(default_factory=set)
    constants: set[tuple[Hashable, int]] = field(default_factory=set)

    def of(self, node: Node) -> Score:
        """The costs of a loop or a branch, without flash."""
        match node.attrs:
            case LoopAttrs(body, rounds, condition):
                each = self._graph(body)
                if condition is None:
                    return _times(each, rounds)
                own = self._graph(condition)
                return _times(each, rounds) + _times(own, rounds + 1)
            case BranchAttrs(then, otherwise):
                every = (self._graph(then), self._graph(otherwise))
                unmeasured = sum(one.unmeasured for one in every)
                return replace(max(every, key=lambda one: one.cycles), unmeasured=unmeasured)
        return Score()

    def _graph(self, graph: Graph) -> Score:
        total = Score()
        for node in _computed(graph):
            if isinstance(node.attrs, LoopAttrs | BranchAttrs):
                total += self.of(node)
            else:
                total += self._layer(fastest(node, graph, self.cpu))
        return total

    def _layer(self, option: Option) -> Score:
        self.parts.update(option.flash)
        self.constants.update(option.constants)
        cost = option.cost
        if cost is None:
            return Score(unmeasured=1)
        return Score(cost.instructions, cost.cycles, 0, 0, cost.waited, cost.followed)


def _computed(graph: Graph) -> Iterator[Node]:
    """The nodes that are not views."""
    bytes_of = roots(graph)
    for node in graph.nodes:
        if bytes_of[node.outputs[0]] == node.outputs[0]:
            yield node


def _times(score: Score, count: int) -> Score:
    """The costs of ``count`` rounds. A layer counts once among those without a cost."""
    numbers: Sequence[int] = astuple(score)
    return replace(Score(*(number * count for number in numbers)), unmeasured=score.unmeasured)
