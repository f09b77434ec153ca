"""A group of nodes that is computed row by row: its stages, and the nodes that kernels compute."""

from __future__ import annotations

import dataclasses
from collections import ChainMap, Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from microgen.graph.ir.graph import ArrayType, Graph, Node
from microgen.graph.rows import geometry, patches, windows
from microgen.graph.rows.geometry import Geometry, Stage
from microgen.graph.rows.patches import Patch


@dataclass(frozen=True, slots=True)
class Tile:
    """A node as a kernel computes it in one step: ``node`` without the padding of its rows, in a
    ``graph`` in which its inputs and its result have the rows of one step. If it ``is_summed``,
    there is one result, which is complete after the last step: kernels have sums in their scratch,
    which are 0 at first."""

    node: Node
    graph: Graph
    is_summed: bool = False


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Nodes that are computed row by row, the tensors with rows that come from outside, the
    geometry, and, by the nodes' results, the tiles of the nodes and the windows of their inputs.
    Unless ``fed`` is 0, the only tensor from outside arrives in blocks of ``fed`` rows.
    ``patches`` are by their results. The geometry and ``windows`` have a patch as one node, which
    computes its result.
    """

    nodes: tuple[Node, ...]
    outside: tuple[str, ...]
    geometry: Geometry
    tiles: Mapping[str, Tile]
    windows: Mapping[str, Mapping[str, windows.RowWindow]]
    fed: int = 0
    patches: Mapping[str, Patch] = field(default_factory=dict)

    @property
    def units(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes of each patch, and each other node, in execution order."""
        inner = {n.outputs[0] for patch in self.patches.values() for n in patch.nodes[:-1]}
        ends = (node for node in self.nodes if node.outputs[0] not in inner)
        return tuple(
            self.patches[end.outputs[0]].nodes if end.outputs[0] in self.patches else (end,)
            for end in ends
        )

    def calls(self, name: str) -> int:
        """The times that the tile of a node is computed in an inference."""
        if name in self.geometry.timings:
            own = self.patches.get(name)
            return self.geometry.timings[name].count * (own.calls(name) if own else 1)
        patch = next(p for p in self.patches.values() if name in p.tiles)
        return self.geometry.timings[patch.result].count * patch.calls(name)

    @property
    def is_summed(self) -> bool:
        """Whether the last node's result is complete after the last step only."""
        return self.tiles[self.nodes[-1].outputs[0]].is_summed


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the layers of a graph, which many groups have in common: how often tensors
    are read, and, by the results of nodes, their windows, patches, and tiles."""

    uses: Mapping[str, int]
    by_rows: dict[tuple[str, bool], windows.ByRows | None] = field(default_factory=dict)
    patches: dict[tuple[str, str, int], Patch] = field(default_factory=dict)
    tiles: dict[tuple[str, int, bool], Tile] = field(default_factory=dict)


def of(
    nodes: Sequence[Node],
    graph: Graph,
    rows: Sequence[int],
    fed: int = 0,
    columns: Sequence[int] = (),
    known: Known | None = None,
) -> RowGroup:
    """The group that computes ``rows`` rows of each node at a time. Unless ``fed`` is 0, its input
    arrives in blocks of ``fed`` rows. Nodes that have ``columns`` are computed in patches, so many
    columns of the patch's result at a time; a patch ends with the first node that has none.

    Raises ValueError, with a clause that says why, if the nodes cannot be computed row by row, if
    anything else reads a result that is not the last one, or if several tensors would be fed.
    """
    known = known or Known(graph.uses_of())
    by_rows = _by_rows(nodes, graph, known)
    if outer := _read_outside(nodes, known.uses):
        raise ValueError(f"{outer!r} is read outside the function, too")
    made_of = _patches(nodes, graph, (rows, columns), known)
    stages = _stages(nodes, graph, rows, by_rows, made_of)
    read = dict.fromkeys(name for stage in stages for name in stage.reads)
    outside = tuple(name for name in read if name not in by_rows)
    heights = {name: graph.types[name].shape[1] for name in outside}
    if fed and len(outside) > 1:
        raise ValueError(f"{outside[1]!r} is read, too, and does not come in rows")
    made = geometry.of(stages, heights, dict.fromkeys(outside, fed) if fed else {})
    by_result = {node.outputs[0]: node for node in nodes}
    # The tile of a patch is not used.
    alone = [stage for stage in stages if stage.result not in made_of]
    tiles = {
        stage.result: _tile(by_result[stage.result], graph, by_rows[stage.result], stage, known)
        for stage in alone
    }
    for patch in made_of.values():
        summed = {patch.result} if patch.is_summed else set()
        tiles |= {name: Tile(*tile, name in summed) for name, tile in patch.tiles.items()}
    read_by = {stage.result: stage.reads for stage in stages}
    return RowGroup(tuple(nodes), outside, made, tiles, read_by, fed, made_of)


def _stages(
    nodes: Sequence[Node],
    graph: Graph,
    rows: Sequence[int],
    by_rows: Mapping[str, windows.ByRows],
    made_of: Mapping[str, Patch],
) -> list[Stage]:
    """The stages of the nodes; each patch, by its result, is one."""
    inner = {node.outputs[0] for patch in made_of.values() for node in patch.nodes[:-1]}
    return [
        _patched(made_of[name]) if name in made_of else _stage(node, graph, by_rows[name], count)
        for node, count in zip(nodes, rows, strict=True)
        if (name := node.outputs[0]) not in inner
    ]


def _patches(
    nodes: Sequence[Node], graph: Graph, sizes: tuple[Sequence[int], Sequence[int]], known: Known
) -> dict[str, Patch]:
    """The patches by their results; ``sizes`` are the rows and the columns of the nodes."""
    found, (rows, columns) = {}, sizes
    for first, end in patches.runs(columns):
        if end - first > 1:
            own = nodes[first:end]
            if set(rows[first:end]) != {1} or len(set(columns[first : end - 1])) > 1:
                raise ValueError(
                    f"{own[-1].outputs[0]!r} and its patch need one row and equal columns"
                )
            key = own[0].outputs[0], own[-1].outputs[0], columns[first]
            made = known.patches.get(key) or patches.of(own, graph, columns[first])
            known.patches[key] = made
            if made.is_summed and end < len(nodes):
                raise ValueError(f"{made.result!r} has one result for all rows, and is not last")
            found[made.result] = made
    return found


def _patched(patch: Patch) -> Stage:
    """The stage of a patch: a row of its result at a time."""
    return Stage(patch.result, patch.height, 1, {patch.data: patch.window})


def rates(nodes: Sequence[Node], graph: Graph, known: Known | None = None) -> list[int]:
    """The number of rows of each node's result on which one row of the last node's result depends,
    without rows that windows share. The last node counts rows as ``of`` does.

    Raises ValueError if a node cannot be computed row by row.
    """
    by_tensor = {nodes[-1].outputs[0]: 1}
    by_rows = _by_rows(nodes, graph, known or Known({}))
    for node in reversed(nodes):
        own = by_tensor.setdefault(node.outputs[0], 1)
        for position, window in by_rows[node.outputs[0]].windows.items():
            by_tensor.setdefault(node.inputs[position], own * window.stride)
    return [by_tensor[node.outputs[0]] for node in nodes]


def _by_rows(nodes: Sequence[Node], graph: Graph, known: Known) -> dict[str, windows.ByRows]:
    """The dependence of each node's rows on rows of its inputs, by the node's result."""
    by_rows = {}
    for node in nodes:
        key = node.outputs[0], node is nodes[-1]
        if key not in known.by_rows:
            reads = (key[1] and windows.summed(node, graph)) or windows.of(node, graph)
            known.by_rows[key] = reads
        reads = known.by_rows[key]
        if reads is None:
            raise ValueError(f"{node.outputs[0]!r} cannot be computed row by row")
        by_rows[node.outputs[0]] = reads
    return by_rows


def _read_outside(nodes: Sequence[Node], uses: Mapping[str, int]) -> str:
    """The first result, except the last one, that another node reads; "" if there is none."""
    inside = Counter(name for node in nodes for name in node.inputs)
    inner = (node.outputs[0] for node in nodes[:-1])
    return next((name for name in inner if uses[name] > inside[name]), "")


def _stage(node: Node, graph: Graph, by_rows: windows.ByRows, rows: int) -> Stage:
    """The stage of a node. If the node sums rows, the rows of its input are treated as the rows of
    its result.
    """
    (result,) = node.outputs
    reads = {node.inputs[position]: window for position, window in by_rows.windows.items()}
    height = graph.types[node.inputs[0] if by_rows.is_summed else result].shape[1]
    return Stage(result, height, rows, reads)


def _tile(node: Node, graph: Graph, by_rows: windows.ByRows, stage: Stage, known: Known) -> Tile:
    key = stage.result, stage.rows, by_rows.is_summed
    if key in known.tiles:
        return known.tiles[key]
    types = {name: _cut(graph.types[name], w.rows(stage.rows)) for name, w in stage.reads.items()}
    if not by_rows.is_summed:
        types[stage.result] = _cut(graph.types[stage.result], stage.rows)
    own = dataclasses.replace(node, attrs=by_rows.attrs)
    cut = graph.replace(types=ChainMap(types, cast(dict[str, ArrayType], graph.types)))
    known.tiles[key] = Tile(own, cut, by_rows.is_summed)
    return known.tiles[key]


def _cut(kind: ArrayType, rows: int) -> ArrayType:
    return dataclasses.replace(kind, shape=(kind.shape[0], rows, *kind.shape[2:]))
