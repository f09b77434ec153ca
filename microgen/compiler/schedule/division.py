"""Divides a model's calls into single ones and functions with rows, by dynamic programming.

A division is a sequence of pieces, each a call. The bytes that are live during a piece do not
depend on the other pieces: they are the bytes of the tensors that are live then, which are whole,
and the piece's scratch. So the fastest division in a given number of bytes, and the least number of
bytes that any division needs, follow from the fastest and the least of all shorter beginnings. A
memory plan may need more, if its buffers leave gaps.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.compiler.passes.views import roots
from microgen.compiler.schedule import feeding, row_options
from microgen.compiler.schedule.options import Option, Space
from microgen.compiler.schedule.row_options import LineBuffered, Tiles
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.rows import patches, tiles, windows
from microgen.target.cpu import Cpu

ROWS = (1, 2, 4, 8)  # at a time, for all layers of a function
# Rows of the last layer at a time, and the most rows of the layers before strides, because a layer
# that computes every second row needs two rows at a time from the layer before it. The third number
# is a stride that does not count yet.
STRIDED = ((1, 2, 1), (1, 4, 1), (2, 4, 1), (1, 2, 2))
MOST_COLUMNS = 4  # at a time, in patches
MOST_LAYERS = 40  # of a function with rows


@dataclass(frozen=True, slots=True)
class CallRange:
    """A call that computes the regions from ``first`` to the one before ``end``. ``nbytes`` are
    live while it runs. ``picks`` has its options by the results of its nodes."""

    first: int
    end: int
    nbytes: int
    cycles: int
    picks: Mapping[str, Option]


@dataclass(frozen=True, slots=True)
class Division:
    """The pieces of a model, and the greatest number of bytes that are live during one."""

    pieces: tuple[CallRange, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of buffers, without gaps between them."""
        return max((piece.nbytes for piece in self.pieces), default=0)

    @property
    def cycles(self) -> int:
        """Estimated cycles of an inference."""
        return sum(piece.cycles for piece in self.pieces)

    @property
    def picks(self) -> Mapping[str, Option]:
        """The options of all pieces by the results of their nodes."""
        return {name: option for piece in self.pieces for name, option in piece.picks.items()}


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces of a model's regions by the region after their last."""

    ending: tuple[tuple[CallRange, ...], ...]

    def fastest(self, limit: int = sys.maxsize, others: int = sys.maxsize) -> Division | None:
        """The fastest division in which at most ``limit`` bytes are live, and at most ``others``
        during all pieces but one; None if there is none."""
        best: list[_Ways] = [(_Way(0), _Way(0))]
        for pieces in self.ending[1:]:
            fits = [(piece, piece.nbytes > others) for piece in pieces if piece.nbytes <= limit]
            none = _best(best, fits, 0)
            best.append((none, _best(best, fits, 1)))
        return Division(tuple(_followed(best)[::-1])) if best[-1][1] else None

    def least(self) -> Division:
        """The fastest of the divisions during which the fewest bytes are live."""
        limits = sorted({piece.nbytes for pieces in self.ending for piece in pieces})
        # A division that fits a limit also fits every larger one, so the least limit is found by
        # bisection.
        place = bisect_left(limits, True, key=lambda limit: self.fastest(limit) is not None)
        found = self.fastest(limits[place] if limits else 0)
        assert found is not None, "a limit of all bytes is none"
        return found

    def front(self) -> Iterator[Division]:
        """The Pareto front of divisions in bytes and cycles, the fastest first."""
        found = self.fastest()
        while found:
            yield found
            # The fastest division in fewer bytes is the next point of the front.
            found = self.fastest(found.nbytes - 1)


@dataclass(frozen=True, slots=True)
class _Way:
    """The fastest way to the end of a piece, and how many exceptions were left before it."""

    cycles: int
    piece: CallRange | None = None
    left: int = 0


_Ways = tuple[_Way | None, _Way | None]  # by how many exceptions they may have


def _best(best: Sequence[_Ways], fits: Sequence[tuple[CallRange, bool]], most: int) -> _Way | None:
    """The fastest way that ends with one of the pieces and has at most ``most`` exceptions."""
    found = [
        _Way(before.cycles + piece.cycles, piece, most - is_exception)
        for piece, is_exception in fits
        if is_exception <= most and (before := best[piece.first][most - is_exception])
    ]
    return min(found, key=lambda way: way.cycles, default=None)


def _followed(best: Sequence[_Ways]) -> list[CallRange]:
    found, at, left = list[CallRange](), len(best) - 1, 1
    while at and (way := best[at][left]) and way.piece:
        found.append(way.piece)
        at, left = way.piece.first, way.left
    return found


def pieces(space: Space, cpu: Cpu, lean: int | None = None) -> Pieces:
    """The pieces of a partition: each region by each of its options, and all functions with
    rows. With ``lean``, their kernels have no arrays on the stack, and only layers that alone take
    more than ``lean`` bytes are in functions with rows."""
    regions, graph = space.partition.regions, space.partition.graph
    lives = _lives(regions, graph, space.partition.planned)
    nodes = [node for region in regions for node in region.nodes if region.codegen == BUILTIN]
    runs = tuple((nodes[a].outputs[0], b - a) for a, b in patches.possible(nodes, graph))
    state = _Pieces(
        space, Tiles(graph, cpu, lean is not None), lives, lean, dict(runs), roots(graph)
    )
    ending: list[list[CallRange]] = [[] for _ in range(len(regions) + 1)]
    for piece in state.all():
        ending[piece.end].append(piece)
    return Pieces(tuple(map(tuple, ending)))


@dataclass(frozen=True, slots=True)
class _Life:
    """A planned tensor: its bytes, the region that computes it, and the last one that reads it. The
    caller writes before the first region and reads after the last. A result that takes its bytes
    may begin ``before`` bytes in front of them."""

    nbytes: int
    first: int
    last: int
    before: int = sys.maxsize


def _lives(
    regions: Sequence[Region], graph: Graph, planned: Mapping[str, int]
) -> Mapping[str, _Life]:
    """The planned tensors by name, without constants and variables. Inputs and outputs are included
    only if they are ``planned``."""
    bytes_of = roots(graph)
    kept = {bytes_of[name] for name in graph.results if name not in planned}
    found = {
        name: _Life(graph.types[name].nbytes, -1, 0, planned[name])
        for name in graph.inputs
        if name in planned
    }
    for number, region in enumerate(regions):
        inside = {name for node in region.nodes for name in node.outputs}
        for name in {bytes_of[name] for node in region.nodes for name in node.inputs} - inside:
            if name in found:
                found[name] = replace(found[name], last=number)
        for name in inside:
            if name not in kept and bytes_of[name] == name:
                found[name] = _Life(graph.types[name].nbytes, number, number)
    for name in {bytes_of[name] for name in graph.outputs if name in planned} & set(found):
        found[name] = replace(found[name], last=len(regions))
    return found


def paces(
    nodes: Sequence[Node], graph: Graph, known: tiles.Known | None = None
) -> list[tuple[int, ...]]:
    """The numbers of rows at a time to try for a function of the nodes, each choice once."""
    rates = tiles.rates(nodes, graph, known)
    ways = [(rows, rows, 1) for rows in ROWS] + list(STRIDED)
    found = [
        tuple(max(last, min(most, last * rate // late)) for rate in rates)
        for last, most, late in ways
    ]
    return list(dict.fromkeys(found))


def patched(
    nodes: Sequence[Node], graph: Graph, lengths: Mapping[str, int]
) -> list[tuple[int, ...]]:
    """The columns of each layer to try in a function of the nodes, each choice once: in patches for
    the widest tensors, for more of them, and for all, first only in patches that begin with a 1x1
    convolution. ``lengths`` are those of possible patches, by their first results."""
    runs = []
    for number, node in enumerate(nodes):
        end = min(number + lengths.get(node.outputs[0], 0), len(nodes))
        if end - number > 1:
            kind = graph.types[node.outputs[0]]
            size = kind.nbytes // kind.shape[1]
            runs.append((size, number, end, patches.is_pointwise(node, graph)))
    found = []
    for own in ([run for run in runs if run[3]], runs):
        sizes = sorted({run[0] for run in own}, reverse=True)
        ways = [(sizes[0], MOST_COLUMNS)] if sizes and own is not runs else []
        ways += [(sizes[-1], MOST_COLUMNS), (sizes[-1], 1)] if sizes else []
        for least, most in ways:
            columns = [0] * len(nodes)
            for _, first, end, _ in (run for run in own if run[0] >= least):
                width = patches.width(nodes[first:end], graph)
                each = max(count for count in range(1, most + 1) if width % count == 0)
                columns[first : end - 1] = [each] * (end - 1 - first)
            found.append(tuple(columns))
    return list(dict.fromkeys(found))


@dataclass(slots=True)
class _Pieces:
    space: Space
    tiles: Tiles
    lives: Mapping[str, _Life]
    lean: int | None = None
    # The number of layers of each patch that is possible, by the result of its first.
    patches: Mapping[str, int] = field(default_factory=dict)
    bytes_of: Mapping[str, str] = field(default_factory=dict)  # as ``roots``, for all pieces
    # For each region, the bytes of tensors whose lives begin, or end, before it; and those that end
    # with it.
    begun: list[int] = field(init=False)
    ended: list[int] = field(init=False)
    ends: list[list[_Life]] = field(init=False)

    def __post_init__(self) -> None:
        # The last number is that of the caller, who reads outputs.
        count = len(self.space.partition.regions) + 1
        begins, own = [0] * (count + 1), [0] * (count + 1)
        self.ends = [[] for _ in range(count)]
        for life in self.lives.values():
            begins[life.first + 1] += life.nbytes
            own[life.last + 1] += life.nbytes
            self.ends[life.last].append(life)
        self.begun, self.ended = list(accumulate(begins)), list(accumulate(own))

    @property
    def graph(self) -> Graph:
        return self.space.partition.graph

    def all(self) -> Iterator[CallRange]:
        """Every piece."""
        fed, regions = self.space.partition.fed, self.space.partition.regions
        alone = [list(self._alone(number, region)) for number, region in enumerate(regions)]
        enough = [self._enough(own) for own in alone]
        for number, own in enumerate(alone):
            # Only the first region's functions can have the model's input in rows.
            yield from self._rolled(number, alone, enough, fed if number == 0 else 0)
            # A single call would need the whole input.
            if not (fed and number == 0):
                yield from own

    def _live(self, first: int, end: int, inner: int = 0) -> int:
        """The bytes of tensors that are live while the regions are computed, without the ``inner``
        ones."""
        return self.begun[end] - self.ended[first] - inner

    def _alone(self, number: int, region: Region) -> Iterator[CallRange]:
        """The region by itself. A region with several nodes has only one form."""
        live = self._live(number, number + 1)
        if region.codegen != BUILTIN or len(region.nodes) > 1:
            own = region.nodes if region.codegen == BUILTIN else ()
            picks = {node.outputs[0]: self.space.single[node.outputs[0]][0] for node in own}
            scratch = sum(option.scratch for option in picks.values())
            cycles = sum(option.cycles for option in picks.values())
            yield CallRange(number, number + 1, live + scratch, cycles, picks)
            return
        (node,) = region.nodes
        name = node.outputs[0]
        every = self.space.single[name] if self.lean is None else self.space.without_stack(name)
        for option in every:
            if option.is_assembled:
                continue  # its bytes are live during other pieces, too
            nbytes = live + option.scratch - self._saved(option, number, number + 1)
            yield CallRange(number, number + 1, nbytes, option.cycles, {name: option})

    def _saved(self, option: Option, first: int, end: int) -> int:
        """The bytes saved if the result takes the place of an input that nothing reads later."""
        result, saved = self.lives.get(option.result), [0]
        for name, lag in option.taken:
            life = self.lives.get(self.bytes_of[name])
            if life and result and first <= life.last < end and lag <= life.before:
                together = max(life.nbytes + lag, result.nbytes)
                saved.append(life.nbytes + result.nbytes - together)
        if result and isinstance(option, LineBuffered) and option.over is not None:
            saved.append(min(option.scratch, result.nbytes - option.over))
        return max(saved)

    def _rolled(
        self,
        first: int,
        alone: Sequence[Sequence[CallRange]],
        enough: Sequence[int],
        fed: int,
    ) -> Iterator[CallRange]:
        """The functions with rows that begin with a region. If the model's input is ``fed``, each
        function has all layers that read it."""
        nodes: list[Node] = []
        inner = most = 0  # bytes; ``inner`` are those of tensors that only the layers so far use
        least = feeding.readers(self.space.partition) if fed else 2
        for number, region in enumerate(self.space.partition.regions[first:], first):
            # The layers of a function follow one another, so no longer function can skip this
            # region.
            if region.codegen != BUILTIN or len(region.nodes) > 1 or len(nodes) == MOST_LAYERS:
                return
            nodes.extend(region.nodes)
            is_summed = windows.summed(nodes[-1], self.graph) is not None
            if windows.of(nodes[-1], self.graph) is None and not is_summed:
                return
            inner += sum(life.nbytes for life in self.ends[number] if life.first >= first)
            # From so many bytes on, a function is of no use: its layers by themselves need no more,
            # and no rows move. But without a function there may be no way to read ``fed`` rows.
            most = max(most, sys.maxsize if fed else enough[number])
            if len(nodes) >= least and (fed or self._helps(alone[first : number + 1])):
                live = self._live(first, number + 1, inner if number > first else 0)
                yield from self._in_rows(nodes, first, live, fed, most)
            # Nothing after a sum can be computed before its last row is.
            if is_summed and windows.of(nodes[-1], self.graph) is None:
                return

    def _helps(self, alone: Sequence[Sequence[CallRange]]) -> bool:
        """Whether to try one function for layers whose pieces by themselves are ``alone``."""
        limit = self.lean
        return limit is None or any(min(p.nbytes for p in own) > limit for own in alone)

    def _enough(self, alone: Sequence[CallRange]) -> int:
        """The bytes of the fastest call of a region by itself."""
        fastest = min(alone, key=lambda one: (one.cycles, one.nbytes), default=None)
        # Cycles of 0 are not known. And if one call may need more bytes than all the others, a
        # function can be of use that needs more than its layers.
        if fastest is None or not fastest.cycles or self.space.partition.planned:
            return sys.maxsize
        return fastest.nbytes

    def _kept(self, nodes: Sequence[Node], rows: Sequence[int], columns: Sequence[int]) -> int:
        """The least bytes of the buffers that keep rows from one time to the next."""
        made = {node.outputs[0]: place for place, node in enumerate(nodes)}
        found: dict[str, int] = {}
        for place, node in enumerate(nodes):
            reads = self.tiles.layers.by_rows.get((node.outputs[0], place == len(nodes) - 1))
            for position, window in reads.windows.items() if reads else ():
                name = node.inputs[position]
                if name not in made or columns[made[name]] or columns[place]:
                    continue
                chunk = rows[made[name]]
                count = max(window.rows(rows[place]), chunk + window.above)
                if count > chunk:
                    kind = self.graph.types[name]
                    found[name] = max(found.get(name, 0), count * (kind.nbytes // kind.shape[1]))
        return sum(found.values())

    def _in_rows(
        self, nodes: Sequence[Node], first: int, live: int, fed: int, most: int
    ) -> Iterator[CallRange]:
        result = self.lives.get(nodes[-1].outputs[0])
        saved = result.nbytes if result else 0  # at most
        none = (0,) * len(nodes)
        ways = [(rows, none) for rows in paces(nodes, self.graph, self.tiles.layers)]
        # Patches compute one row at a time.
        ones = (1,) * len(nodes)
        ways += [(ones, columns) for columns in patched(nodes, self.graph, self.patches)]
        for rows, columns in ways:
            limit = most - live + saved
            if self._kept(nodes, rows, columns) >= limit:
                continue
            for found in row_options.options(nodes, rows, self.tiles, fed, columns, limit):
                picks = {node.outputs[0]: found for node in nodes}
                end = first + len(nodes)
                nbytes = live + found.scratch - self._saved(found, first, end)
                yield CallRange(first, end, nbytes, found.cycles, picks)
