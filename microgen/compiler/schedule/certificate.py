"""A number of bytes that every schedule needs, found without the search.

It is proven for all schedules that the search can find: calls in the given order. Each call
computes a region, a pattern, or, a few rows at a time, regions that follow one another. It uses any
kernel that fits, with results in their inputs' places if the kernel allows it. The calls of any
schedule divide the regions. So a schedule needs at least the bytes of the largest call in the
division for which this number is the smallest.

The bytes of a call are counted plainly and never too high. Live tensors are whole, except for
parts of a concatenation that can be computed in its result. Kernels have the scratch that they
state, and functions with rows have the bytes that ``row_demand`` finds. If this module does not
know a number, it assumes the lower one. It shares no code with ``division`` and ``search``. Tests
compare the bound with all schedules of small networks.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from microgen import kernels
from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.partition import Partition
from microgen.compiler.partition.assembly import assemblies
from microgen.compiler.passes.views import roots
from microgen.compiler.schedule import patch_demand
from microgen.compiler.schedule.row_demand import Demand, reach
from microgen.graph.ir.graph import Node
from microgen.kernels import patterns
from microgen.kernels.base import Implementation
from microgen.kernels.fitting import fitting
from microgen.target.cpu import Cpu


def bound(
    parts: Partition, cpu: Cpu, rows: Sequence[int], layers: int, free: Collection[str] = ()
) -> int:
    """A lower bound of the bytes of planned buffers for all schedules of the partition, if
    functions compute one of ``rows`` at a time, and have at most ``layers`` layers. Inputs and
    outputs count only if they are ``free``: other tensors may use their memory while they are not
    live."""
    network = _Network(parts, cpu, rows, free)
    # Dynamic programming: best[k] is the least number of bytes with which calls can compute the
    # first k regions.
    best = [0]
    for end in range(1, len(parts.regions) + 1):
        least = sys.maxsize
        for call in network.ending(end, layers):
            # Most functions with rows are skipped: to count their buffers takes long.
            if max(best[call.first], call.floor) < least:
                least = min(least, max(best[call.first], network.need(call)))
        best.append(least)
    return best[-1]


class _Call(NamedTuple):
    """A call of the regions from ``first`` on: a number of bytes that it needs at least, which is
    all that is known of it unless it computes the layers ``group`` in rows. Results share at most
    ``shared`` bytes with tensors that die; the number has no bytes twice."""

    first: int
    floor: int
    group: tuple[str, ...]
    shared: int = 0


@dataclass(frozen=True, slots=True)
class _Alive:
    """A tensor that is planned: its bytes, the region that makes it, and the last that reads it."""

    nbytes: int
    made: int
    last: int


def _alive(parts: Partition, free: Collection[str]) -> dict[str, _Alive]:
    """The planned tensors. A caller fills inputs before the first region, and reads outputs after
    the last."""
    graph, bytes_of = parts.graph, roots(parts.graph)
    made = {name: -1 for name in graph.inputs if name in free}  # before the first region
    read: dict[str, int] = {}
    for number, region in enumerate(parts.regions):
        for node in region.nodes:
            made |= {name: number for name in node.outputs if bytes_of[name] == name}
            read |= {bytes_of[name]: number for name in node.inputs}
    read |= {bytes_of[name]: len(parts.regions) for name in graph.outputs if name in free}
    foreign = {bytes_of[name] for name in graph.results if name not in free}
    ends: dict[str, int] = {}
    for number, root, result in _placed_parts(parts):
        # The result has these bytes from this region on, or always if the result is the caller's.
        ends[root] = number - 1
        if result in foreign:
            foreign.add(root)
    return {
        name: _Alive(graph.types[name].nbytes, first, max(first, min(last, ends.get(name, last))))
        for name, first in made.items()
        if name not in foreign
        for last in (read.get(name, first),)
    }


def _placed_parts(parts: Partition) -> Iterator[tuple[int, str, str]]:
    """The parts that can be computed in a concatenation's result: the number of its region, the
    tensor whose bytes the part has, and the result, the last region first."""
    possible = assemblies(parts)
    for number, region in reversed(list(enumerate(parts.regions))):
        result = region.main.outputs[0]
        if result in possible:
            placed = (part for part in possible[result].parts if not part.is_copied)
            yield from ((number, part.root, result) for part in placed)


class _Network:
    """The bytes that the calls of a partition need."""

    def __init__(
        self, parts: Partition, cpu: Cpu, rows: Sequence[int], free: Collection[str] = ()
    ) -> None:
        self.parts, self.graph, self.cpu = parts, parts.graph, cpu
        self.alive, self.bytes_of = _alive(parts, free), roots(parts.graph)
        count = len(parts.regions)
        self.made_by = _grouped((one.made, name) for name, one in self.alive.items())
        self.read_by = _grouped((one.last, name) for name, one in self.alive.items())
        self.made_before = self._bytes_before(self.made_by, count)
        self.dead_before = self._bytes_before(self.read_by, count)
        nodes = [node for region in parts.regions if _is_plain(region) for node in region.nodes]
        reaches = {node.outputs[0]: (node, reach(node, self.graph)) for node in nodes}
        self.rolled = {name: (node, found) for name, (node, found) in reaches.items() if found}
        inputs = (name for name, own in self.bytes_of.items() if own in self.graph.inputs)
        fed = dict.fromkeys(inputs, parts.fed) if parts.fed else {}
        self.demands = [Demand(self.graph, cpu, count, self.rolled, fed) for count in rows]
        self.patterns: dict[int, list[tuple[int, int]]] = {}
        for nodes_of_one in _patterns(parts):
            self._add_pattern(nodes_of_one)

    def _bytes_before(self, names: Mapping[int, Sequence[str]], count: int) -> list[int]:
        """For -1, 0, 1 and so on: the bytes of all tensors with a lower number."""
        nbytes = (sum(self.alive[n].nbytes for n in names.get(k, ())) for k in range(-1, count))
        return [0, *accumulate(nbytes)]

    def ending(self, end: int, layers: int) -> Iterator[_Call]:
        """All calls that end before a region."""
        # If rows are fed, the first region has to be in a function with rows.
        if end > 1 or not self.parts.fed:
            yield _Call(end - 1, self._alone(end - 1), ())
        for first, nbytes in self.patterns.get(end, ()):
            yield _Call(first, nbytes, ())
        group: tuple[str, ...] = ()
        # Bytes of tensors that a function makes and only it reads, of the others that it makes, and
        # of tensors that nothing reads after it.
        inner = made = dying = 0
        for first in range(end - 1, max(-1, end - 1 - layers), -1):
            region = self.parts.regions[first]
            if not _is_plain(region) or region.nodes[0].outputs[0] not in self.rolled:
                return
            # No longer function can have an inner tensor that other layers read, either.
            if group and not self._is_read_before(region.nodes[0].outputs[0], end):
                return
            group = (region.nodes[0].outputs[0], *group)
            for one in self._made(first, first + 1):
                inner += one.nbytes * (one.last < end)
                made += one.nbytes * (end <= one.last)
                # Inside the function now, so it does not die for a result any more.
                dying -= one.nbytes * (first < one.last < end)
            dying += sum(self._dying(first, first + 1).values())
            is_fed = self.parts.fed > 0 and first == 0  # then it may be one layer
            if len(group) > 1 or is_fed:
                # Assuming that results share all bytes that die keeps the bound from being too
                # high.
                living = self.made_before[end + 1] - self.dead_before[first + 1]
                own = inner if len(group) > 1 else 0  # a single layer's own result is counted
                shared = min(made, dying)
                yield _Call(first, living - own - shared, group, shared)

    def need(self, call: _Call) -> int:
        """The least bytes of a call."""
        if not call.group:
            return call.floor
        found = [self._in_rows(call, one) for one in self.demands if one.can_be(call.group)]
        return call.floor + min(found, default=sys.maxsize)

    def _alone(self, number: int) -> int:
        region = self.parts.regions[number]
        outside = self._outside(number, number + 1)
        if not _is_plain(region):  # its inner tensors are not known
            # Its own scratch is not known, and 0 is never too high.
            return outside - self._shared(number, number + 1)
        return outside + self._least(region.nodes, number, number + 1)

    def _add_pattern(self, nodes: Sequence[Node]) -> None:
        numbers = [n for n, region in enumerate(self.parts.regions) if region.nodes[-1] in nodes]
        first, end = numbers[0], numbers[-1] + 1
        nbytes = 0  # calls between the pattern's nodes would be computed before it
        if end - first == len(nodes):
            nbytes = self._outside(first, end) + self._least(nodes, first, end)
        self.patterns.setdefault(end, []).append((first, nbytes))

    def _outside(self, first: int, end: int) -> int:
        """The bytes of tensors that are live during a call of the layers from ``first`` to ``end``,
        without tensors that only these layers read. A single layer's own result is counted."""
        living = self.made_before[end + 1] - self.dead_before[first + 1]
        if end - first == 1 and _is_plain(self.parts.regions[first]):
            return living
        return living - sum(o.nbytes for o in self._made(first, end) if o.last < end)

    def _made(self, first: int, end: int) -> Iterator[_Alive]:
        for number in range(first, end):
            yield from (self.alive[name] for name in self.made_by.get(number, ()))

    def _dying(self, first: int, end: int) -> dict[str, int]:
        """The bytes of tensors that nothing reads after a call."""
        names = (name for number in range(first, end) for name in self.read_by.get(number, ()))
        return {n: self.alive[n].nbytes for n in names if self.alive[n].made < first}

    def _shared(self, first: int, end: int) -> int:
        """The most bytes that results can share with tensors that die."""
        made = sum(one.nbytes for one in self._made(first, end) if end <= one.last)
        return min(made, sum(self._dying(first, end).values()))

    def _least(self, nodes: Sequence[Node], first: int, end: int) -> int:
        """The least scratch of a kernel for the nodes, minus the bytes that its place can save."""
        node = patterns.joined(nodes)
        fit = fitting(node, self.graph, self.cpu).kernels
        return min((self._scratch(one, node, first, end) for one in fit), default=0)

    def _scratch(self, kernel: Implementation, node: Node, first: int, end: int) -> int:
        result, dying = self.alive.get(node.outputs[0]), self._dying(first, end)
        lags = kernel.in_place(node, self.graph)
        scratch = kernel.scratch(node, self.graph)
        if len(node.outputs) > 1:
            return scratch - (self._shared(first, end) if lags else 0)
        saved = [0]
        for position, lag in lags.items():
            nbytes = dying.get(self.bytes_of[node.inputs[position]], 0)
            if result and nbytes:
                saved.append(nbytes + result.nbytes - max(nbytes + lag, result.nbytes))
        return scratch - max(saved)

    def _is_read_before(self, name: str, end: int) -> bool:
        """Whether no layer from ``end`` on reads a planned tensor, and one before does."""
        one = self.alive.get(name)
        return one is not None and one.made < one.last < end

    def _in_rows(self, call: _Call, demand: Demand) -> int:
        """The least bytes of a function's buffers and scratch while one of its layers runs, without
        those that the end of its result may take."""
        if demand.count > 1:
            return self._at_once(call.group, demand)
        # Patches compute one row at a time.
        ways = [(demand, call.group), *patch_demand.ways(demand, call.group)]
        is_planned = call.group[-1] in self.alive
        return min(
            # An output shares bytes with a tensor or with scratch, not with both.
            self._at_once(own, one) - max(0, is_planned * one.freed(own) - call.shared)
            for one, own in ways
        )

    def _at_once(self, group: Sequence[str], demand: Demand) -> int:
        """A buffer that keeps rows from one time to the next is always live. Any other buffer is
        live from the layer that fills it to the last layer that reads it."""
        number = {name: n for n, name in enumerate(group)}
        during = [demand.scratch(group, name) for name in group]
        always = demand.sums(group)
        # The last layer's scratch contains the sums, which are live during all layers.
        during[-1] -= always
        last = {data: number[name] for name in group for data in demand.data(name)}
        for name, (rows, each) in demand.buffers(group).items():
            nbytes = rows * self.graph.types[name].nbytes // self.graph.types[name].shape[1]
            if rows > each:
                always += nbytes
            else:
                for n in range(number.get(name, 0), last[name] + 1):
                    during[n] += nbytes
        return always + max(during)


def _grouped(pairs: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """The names of each number."""
    found: dict[int, list[str]] = {}
    for number, name in pairs:
        found.setdefault(number, []).append(name)
    return found


def _is_plain(region: Region) -> bool:
    """Whether the region is one layer, for which the search chooses a kernel."""
    return region.codegen == BUILTIN and len(region.nodes) == 1 and not region.function


def _patterns(parts: Partition) -> Iterator[Sequence[Node]]:
    """All chains of layers that a kernel computes together."""
    chains = patterns.Chains(parts.graph)
    plain = {region.nodes[0].outputs[0] for region in parts.regions if _is_plain(region)}
    for region in parts.regions:
        for ops in kernels.joint_ops():
            nodes = chains.ending(region.nodes[-1], ops)
            if nodes and all(node.outputs[0] in plain for node in nodes):
                yield nodes
