"""Bounds of candidates that differ from one that was lowered in the kernels of some layers.

The search asks for the bounds of hundreds of candidates, and to lower a whole network for each
would take longer than everything else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from itertools import accumulate

from microgen import kernels
from microgen.compiler.codegens import builtin
from microgen.compiler.codegens.base import Primitive, Region
from microgen.compiler.codegens.remembered import Remembered
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.lowering import runs
from microgen.compiler.lowering.program import may_overlap
from microgen.compiler.partition import Partition, sections
from microgen.compiler.passes.views import roots
from microgen.compiler.schedule.state import Worth
from microgen.kernels import patterns
from microgen.options import Options
from microgen.pipeline import memory
from microgen.planner.call_loads import CallLoads, Exchanged, Load
from microgen.planner.program.ram import Ram
from microgen.planner.program.types import Argument, Program, Storage
from microgen.target.board import Board

MOST = 8  # programs that are kept


def of(parts: Partition, program: Program, codegen: Remembered, board: Board) -> Exchanges | None:
    """The bounds of partitions near ``parts``, which was lowered to ``program``; None if more than
    one call depends on the kernel of a region."""
    called = sum(runs.count(region) for region in parts.regions if not region.is_assembled)
    # A variable may be updated in place, and parts of concatenations may be copied.
    if parts.graph.variables or program.devices or len(program.calls) != called:
        return None
    return Exchanges(parts, program, codegen, board)


@dataclass(slots=True)
class LoweredCandidates:
    """The last programs of a search, by everything but kernels in which partitions differ."""

    codegen: Remembered
    board: Board
    options: Options
    _found: dict[Hashable, Exchanges] = field(default_factory=dict)
    # What a frame has of a region, by the region's id, with the region.
    _frames: dict[int, tuple[Region, Hashable]] = field(default_factory=dict)

    def add(self, parts: Partition, program: Program) -> None:
        """A partition that was lowered to ``program``."""
        form = memory.only_form(program, self.board, self.options)
        made = of(parts, form, self.codegen, self.board) if form else None
        if made:
            self._found[self._frame(parts)] = made
            if len(self._found) > MOST:
                # The first one that was added.
                del self._found[next(iter(self._found))]

    def ram(self, parts: Partition, worth: Worth) -> Ram | None:
        """``Exchanges.ram`` by the program of a partition that differs in kernels only."""
        near = self._found.get(self._frame(parts))
        return near.ram(parts, worth, self.options) if near else None

    def _frame(self, parts: Partition) -> Hashable:
        """Everything about a partition but the kernels of its plain calls."""
        # These objects live at least as long as the partition, which is kept.
        return id(parts.graph), *map(self._framed, parts.regions)

    def _framed(self, region: Region) -> Hashable:
        known = self._frames.get(id(region))
        # Partitions of one search have most of their regions in common.
        if known is None or known[0] is not region:
            own = tuple(map(id, region.nodes)) if _is_plain(region) else id(region)
            known = self._frames[id(region)] = region, own
        return known[1]


@dataclass(slots=True)
class Exchanges:
    """The bounds of partitions that differ from ``parts``, which was lowered to ``program``."""

    parts: Partition
    program: Program
    codegen: Remembered
    board: Board
    _loads: CallLoads = field(init=False)
    # The loads of exchanged calls by the number and the id of the other region, which is kept.
    _made: dict[tuple[int, int], tuple[Region, Load | None]] = field(default_factory=dict)
    _forms: dict[Hashable, Load | None] = field(default_factory=dict)
    _calls: dict[int, int] = field(init=False)  # region -> call
    _joined: frozenset[str] = field(init=False)  # the tensors that are parts of concatenations
    _bytes_of: dict[str, str] = field(init=False)
    _sections: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._loads = CallLoads(self.program)
        regions, self._bytes_of = self.parts.regions, dict(roots(self.parts.graph))
        self._sections = sections.offsets(self.parts.graph)
        called = [number for number, region in enumerate(regions) if not region.is_assembled]
        calls = accumulate((runs.count(regions[number]) for number in called), initial=0)
        self._calls = dict(zip(called, calls, strict=False))
        joined = (region.main.inputs for region in regions if region.is_assembled)
        self._joined = frozenset(self._bytes_of[name] for names in joined for name in names)

    def bound(self, parts: Partition) -> int | None:
        """``memory.bound`` of a partition; None if it differs in more than kernels."""
        exchanged = self._exchanges(parts)
        return None if exchanged is None else self._bound(exchanged)

    def ram(self, parts: Partition, worth: Worth, options: Options) -> Ram | None:
        """The RAM of a partition, or its bound if that is not ``worth`` a plan; None if it takes a
        program to know it."""
        exchanged = self._exchanges(parts)
        if exchanged is None:
            return None
        bound = self._bound(exchanged)
        if not worth(bound):
            return Ram(bound, least=bound, is_planned=False)
        peak = memory.peak_of(self.program, self._loads.liveness(exchanged), options)
        return None if peak is None else Ram(peak, self.program.io_bytes, least=bound)

    def _bound(self, exchanged: Exchanged) -> int:
        return self._loads.bound(exchanged) + self.program.io_bytes

    def _exchanges(self, parts: Partition) -> Exchanged | None:
        """The calls that differ."""
        if len(parts.regions) != len(self.parts.regions) or parts.graph is not self.parts.graph:
            return None
        exchanged: dict[int, Load] = {}
        for number, (old, new) in enumerate(zip(self.parts.regions, parts.regions, strict=True)):
            if old is not new:
                known = self._made.get((number, id(new)))
                made = known[1] if known else self._known(number, old, new)
                if made is None:
                    return None
                exchanged[made.call] = made
        return exchanged

    def _known(self, number: int, old: Region, new: Region) -> Load | None:
        """The load of a region instead of the other one, which is computed once."""
        key = number, id(new)
        if key not in self._made:
            form = number, self._form(new)
            if form not in self._forms:
                self._forms[form] = self._exchanged(number, old, new)
            self._made[key] = new, self._forms[form]
        return self._made[key][1]

    def _form(self, region: Region) -> Hashable:
        """Everything that decides the load of a call of the same node; otherwise the region."""
        if len(region.choices) != 1 or not _is_plain(region):
            return id(region)
        (choice,), graph = region.choices, self.parts.graph
        node = patterns.joined(choice.nodes)
        kernel = kernels.named(node.op, choice.symbol)
        assert kernel is not None, "it is an option"
        lags = tuple(kernel.in_place(node, graph).items())
        passed = kernel.passed(node), kernel.writes
        return len(region.nodes), choice.in_place, kernel.scratch(node, graph), lags, passed

    def _exchanged(self, number: int, old: Region, new: Region) -> Load | None:
        """The load of a region instead of the other one; None if it is no exchange of kernels."""
        if not (_is_plain(old) and _is_plain(new)) or old.nodes != new.nodes:
            return None
        before, after = (self._lowered(region) for region in (old, new))
        if (before.inputs, before.outputs) != (after.inputs, after.outputs):
            return None
        call = self.program.calls[self._calls[number]]
        inputs, outputs = len(before.inputs), len(before.outputs)
        constants = [Argument(Storage.CONSTANT, "")] * len(after.constants)
        args = (*call.args[:inputs], *constants, *call.args[len(call.args) - outputs :])
        pairs = may_overlap(after, self._bytes_of, self._joined, self._sections)
        own = replace(call, args=args, scratch=after.scratch, in_place=pairs)
        return self._loads.load(own, after.parameters)

    def _lowered(self, region: Region) -> Primitive:
        if len(region.choices) == 1:
            return builtin.interface(region.choices[0], self.parts.graph, self.board)
        (primitive,) = self.codegen.lower([region], self.parts.graph, self.board)
        return primitive


def _is_plain(region: Region) -> bool:
    """Whether the region is one call of a kernel, not in rows."""
    is_changed = region.is_assembled or region.is_rolled or runs.count(region) > 1
    return region.codegen == BUILTIN and not region.function and not is_changed
