"""Functions that compute row by row, as options with their cost and memory.

The cost of a layer is its kernel's cost for the rows of one step, times the number of steps.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from microgen.compiler.codegens import row_function as code
from microgen.compiler.codegens.base import Choice, Region
from microgen.compiler.schedule.options import Option, measured, of_choice
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.rows import overlap, tiles
from microgen.graph.rows.tiles import RowGroup
from microgen.kernels.cost import Cost
from microgen.kernels.fitting import fitting
from microgen.target.cpu import Cpu, Feature

_PER_MOVE = (24, 36)  # instructions and cycles of a call that moves rows
# Counted in the listing for Cortex-M4, whose loop has four instructions for 32 bytes; cores without
# such instructions have ten for 16 bytes. Cycles, and the code of loops, are assumed.
_PER_BYTE = (0.66, 1.08)
_PER_BYTE_OF_BLOCKS = (0.13, 0.69)  # on Arm cores whose instructions move eight registers
_LOOP_BYTES, _PART_BYTES = 24, 44  # code of the loop, and of its body for each layer

_PATCH_BYTES = 240  # code of a patch's loop and of its call, on Cortex-M4


@dataclass(frozen=True, eq=False)
class LineBuffered(Option):
    """Nodes that one function computes row by row. ``parts`` are the options for their tiles.
    ``rows`` is the number of rows at a time, ``columns`` that of columns in patches, ``lags`` are
    the lags of its inputs, ``over`` that of its scratch if the output may overlap with that, and
    ``fed`` is as in its choices. The kernel is the last part's."""

    parts: tuple[Option, ...] = ()
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    nbytes: int = 0
    lags: tuple[tuple[str, int], ...] = ()
    over: int | None = None
    fed: int = 0

    @cached_property
    def scratch(self) -> int:
        """Bytes of its buffers and of its kernels' scratch."""
        return self.nbytes

    @cached_property
    def in_place(self) -> tuple[tuple[int, int], ...]:
        """The inputs, in the order of the function's parameters."""
        return tuple((number, lag) for number, (_, lag) in enumerate(self.lags))

    @property
    def taken(self) -> tuple[tuple[str, int], ...]:
        """The inputs whose place the result may take, with their lags."""
        return self.lags

    @property
    def memory(self) -> tuple[Hashable, ...]:
        """Everything that decides the memory of the call."""
        return "rows", len(self.nodes), self.nbytes, self.lags, self.over

    @cached_property
    def flash(self) -> tuple[tuple[Hashable, int], ...]:
        """The flash of its parts and of its own loop."""
        parts = (found for part in self.parts for found in part.flash)
        ends = (last == 0 < inner for inner, last in itertools.pairwise(self.columns))
        own = _LOOP_BYTES + _PART_BYTES * len(self.parts) + _PATCH_BYTES * sum(ends)
        return (*dict.fromkeys(parts), ((self.result, self.rows, self.columns), own))

    @property
    def stored(self) -> tuple[tuple[Hashable, int], ...]:
        """The constants of its parts."""
        return tuple(dict.fromkeys(found for part in self.parts for found in part.constants))

    @property
    def is_pattern(self) -> bool:
        """True: the search does not exchange it for another implementation of one node."""
        return True

    def choices(self, reason: str) -> Iterator[Choice]:
        """The choices of its region."""
        every = zip(self.nodes, self.parts, self.rows, self.columns, strict=True)
        for node, part, rows, columns in every:
            yield Choice(
                (node,),
                part.kernel.symbol,
                part.is_shared,
                rows=rows,
                columns=columns,
                fed=self.fed,
                reason=reason,
                refusals=part.refusals,
            )


@dataclass(slots=True)
class Tiles:
    """The options for tiles, by node and rows at a time, each found once. Without measurements, as
    on the host, it is the first kernel that fits. If they are ``lean``, no option has an array on
    the stack if there are options without one."""

    graph: Graph
    cpu: Cpu
    lean: bool = False
    known: dict[Hashable, Sequence[Option]] = field(default_factory=dict)
    layers: tiles.Known = field(init=False)

    def __post_init__(self) -> None:
        self.layers = tiles.Known(self.graph.uses_of())

    def options(self, group: RowGroup, node: Node) -> Sequence[Option]:
        """The options for the node's tile in the group; none if no kernel fits."""
        result = node.outputs[0]
        tile = group.tiles[result]
        # A tile in a patch has other columns.
        key = result, *(kind.shape for kind in tile.graph.type_of((result, *node.inputs[:1])))
        if key not in self.known:
            self.known[key] = _useful(tile.node, tile.graph, self.cpu, lean=self.lean)
        return self.known[key]


def _useful(node: Node, graph: Graph, cpu: Cpu, *, lean: bool) -> Sequence[Option]:
    """The options that are faster than all with less scratch, the fastest first."""
    found = fitting(node, graph, cpu)
    kernels = [kernel for kernel in found.kernels if not kernel.can_fail]
    kernels = (lean and [kernel for kernel in kernels if not kernel.stack]) or kernels
    options = [one for k in kernels for one in measured((node,), k, found, graph, cpu)]
    if not options:
        return [Option((node,), kernel, False, None, graph) for kernel in kernels[:1]]
    useful: list[Option] = []
    for one in sorted(options, key=lambda one: (one.cycles, one.scratch)):
        # They are in the order of cycles, so this one is slower than all before it.
        if not useful or one.scratch < useful[-1].scratch:
            useful.append(one)
    return useful


def options(
    nodes: Sequence[Node],
    rows: Sequence[int],
    known: Tiles,
    fed: int = 0,
    columns: Sequence[int] = (),
    most: int = sys.maxsize,
) -> Iterator[LineBuffered]:
    """The nodes in one function that computes ``rows`` rows of each at a time: first with the
    fastest kernels, then with kernels that need less scratch. Empty if no such function is
    possible. ``fed`` rows of the input come at a time; 0: the whole input is there. ``columns`` are
    those of the layers in patches. Functions that certainly need ``most`` bytes of scratch, or
    more, may be left out."""
    columns = columns or (0,) * len(nodes)
    try:
        group = tiles.of(nodes, known.graph, rows, fed, columns, known.layers)
    except ValueError:
        return
    kept = code.kept(group, known.graph)
    # It is asked first, because to find the kernels of tiles takes long.
    if kept >= most:
        return
    every = [known.options(group, node) for node in nodes]
    common = _Common.of(group, known) if all(every) else None
    while common and all(every):
        largest = max(each[0].scratch for each in every)
        # Each layer has its own scratch beside the rows that are kept.
        if kept + largest < most:
            yield _made(common, [each[0] for each in every], (rows, columns), known)
        # Leave out the kernels that need the most scratch, until some layer has no kernel left.
        every = [[one for one in each if one.scratch < largest] for each in every]


@dataclass(frozen=True, slots=True)
class _Common:
    """What all options for a group have in common: how often each node's tile is computed,
    instructions and cycles of moves, and lags, by those of the last kernel."""

    group: RowGroup
    times: tuple[int, ...]
    moves: tuple[tuple[float, float], ...]
    lags: dict[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]

    @classmethod
    def of(cls, group: RowGroup, known: Tiles) -> _Common:
        """What is common to a group's options."""
        times = tuple(group.calls(node.outputs[0]) for node in group.nodes)
        return cls(group, times, (*_moves(group, known), *_patch_moves(group, known)), {})

    def lags_of(self, last: Option, graph: Graph) -> tuple[tuple[str, int], ...]:
        """The lags of the inputs if the option is the last node's."""
        # A patch reads and writes in turn, so the lag of its last kernel does not count.
        stated = dict(last.in_place) if len(self.group.units[-1]) == 1 else {}
        own = overlap.by_tensor(last.joined.inputs, stated)
        key = tuple(own.items())
        if key not in self.lags:
            self.lags[key] = tuple(overlap.of(self.group, graph, own).items())
        return self.lags[key]


def _made(
    common: _Common,
    parts: Sequence[Option],
    sizes: tuple[Sequence[int], Sequence[int]],
    known: Tiles,
) -> LineBuffered:
    """The option with ``parts``; ``sizes`` are the rows and columns of its layers."""
    graph, group, (rows, columns) = known.graph, common.group, sizes
    nbytes, over = code.scratch(group, [part.scratch for part in parts], graph)
    return LineBuffered(
        group.nodes,
        parts[-1].kernel,
        parts[-1].is_shared,
        _cost(common, parts),
        graph,
        parts=tuple(parts),
        rows=tuple(rows),
        columns=tuple(columns),
        nbytes=nbytes,
        lags=common.lags_of(parts[-1], graph),
        over=over,
        fed=group.fed,
    )


def _cost(common: _Common, parts: Sequence[Option]) -> Cost | None:
    """Instructions and cycles of all steps, and the code of the parts. None if the cost of a part
    is not known."""
    if any(part.cost is None for part in parts):
        return None
    times = common.times
    each: list[tuple[float, float]] = [
        (part.cost.instructions * count, part.cost.cycles * count)
        for part, count in zip(parts, times, strict=True)
        if part.cost
    ]
    each = [*each, *common.moves]
    waits = [(part.cost, count) for part, count in zip(parts, times, strict=True) if part.cost]
    return Cost(
        round(sum(one for one, _ in each)),
        round(sum(one for _, one in each)),
        # LineBuffered.flash has the parts' code, because other functions may share it.
        code_bytes=0,
        waited=sum(cost.waited * count for cost, count in waits),
        followed=sum(cost.followed * count for cost, count in waits),
    )


def _moves(group: RowGroup, known: Tiles) -> Iterator[tuple[float, float]]:
    """Instructions and cycles of the moves and copies of each buffer."""
    graph, per_byte = known.graph, _per_byte(known.cpu)
    for name, buffer in group.geometry.buffers.items():
        row = graph.types[name].nbytes // graph.types[name].shape[1]
        kept = buffer.rows - buffer.timing.rows
        moved = kept * row * buffer.timing.count
        copied = graph.types[name].nbytes if name in group.outside else 0
        calls = buffer.timing.count * (bool(kept) + bool(copied))
        yield (
            _PER_MOVE[0] * calls + per_byte[0] * (moved + copied),
            _PER_MOVE[1] * calls + per_byte[1] * (moved + copied),
        )


def _per_byte(cpu: Cpu) -> tuple[float, float]:
    """Instructions and cycles for each byte of a move."""
    has_blocks = cpu.architecture == "arm" and Feature.LONG_MULTIPLY in cpu.features
    return _PER_BYTE_OF_BLOCKS if has_blocks else _PER_BYTE


def _patch_moves(group: RowGroup, known: Tiles) -> Iterator[tuple[float, float]]:
    """Instructions and cycles of the moves of columns in patches."""
    per_byte, graph = _per_byte(known.cpu), known.graph
    for patch in group.patches.values():
        wide, own = patch.nodes[0].outputs[0], patch.columns.timings
        times = group.geometry.timings[patch.result].count
        # Calls, columns that they move, and columns that they copy.
        moves = [(wide, group.calls(wide), patch.wide - own[wide].rows, 0)]
        if patch.copied:
            copies = times * own[patch.data].count * patch.window.extent
            new = own[patch.data].rows
            moves.append((patch.data, copies * 2, patch.copied - new, new))
        for name, calls, kept, new in moves:
            kind = graph.types[name]
            column = kind.nbytes // (kind.shape[1] * kind.shape[2])
            moved = (kept + new) * column * calls // (1 + (name != wide))
            yield (
                _PER_MOVE[0] * calls + per_byte[0] * moved,
                _PER_MOVE[1] * calls + per_byte[1] * moved,
            )


def of_region(region: Region, graph: Graph, cpu: Cpu) -> LineBuffered:
    """The option of a region with rows, with the cost of its parts if it is known."""
    rows, columns = zip(*((one.rows, one.columns) for one in region.choices), strict=True)
    group = tiles.of(region.nodes, graph, rows, region.fed, columns)
    tiled = ((choice, group.tiles[choice.nodes[0].outputs[0]]) for choice in region.choices)
    parts = [of_choice(choice, (tile.node,), tile.graph, cpu) for choice, tile in tiled]
    known = Tiles(graph, cpu)
    return _made(_Common.of(group, known), parts, (rows, columns), known)


def by_result(options: Iterable[Option]) -> Mapping[str, Option]:
    """The options by the results of all their nodes."""
    return {node.outputs[0]: option for option in options for node in option.nodes}
