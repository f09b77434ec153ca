"""Schedules in which as many layers as are asked for are computed together, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from microgen.base.manifest.schedule import (
    SHARED,
    SPECIALISED,
    ChoiceRecord,
    FunctionChoices,
    ScheduleRecord,
)
from microgen.compiler.codegens.base import Region
from microgen.compiler.codegens.selection import BUILTIN
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.rows import tiles
from microgen.kernels.fitting import fitting
from microgen.options import Options
from microgen.pipeline import planning
from microgen.target import board as boards
from microgen.target.cpu import Cpu

_MOST_ROWS = 4
_ATTEMPTS = 4  # to find other rows at a time than one


def schedules(
    model: Path, board: str, rng: np.random.Generator, shared: float
) -> dict[int, ScheduleRecord]:
    """By each legal depth from 0 on a schedule. With depth 0 no layer is computed row by row.
    Otherwise so many layers that follow one another are, wherever they can be; the others are
    alone. Kernels are random ones that fit, ``shared`` of them out of line."""
    found = boards.load(board)
    parts = planning.partitioned(model, found, Options()).partition
    made = {0: _Forced(parts.regions, parts.graph, found.cpu, rng, shared, 0)}
    for depth in range(1, len(parts.regions) + 1):
        made[depth] = _Forced(parts.regions, parts.graph, found.cpu, rng, shared, depth)
    records = {depth: forced.record() for depth, forced in made.items()}
    return {depth: record for depth, record in records.items() if depth in (0, depth_of(record))}


def depth_of(record: ScheduleRecord) -> int:
    """The layers in the longest function with rows, 0 if there is none."""
    rolled = [f.choices for f in record.functions if any(choice.rows for choice in f.choices)]
    return max(map(len, rolled), default=0)


class _Forced:
    """Divides regions into functions of one depth."""

    def __init__(
        self,
        regions: Sequence[Region],
        graph: Graph,
        cpu: Cpu,
        rng: np.random.Generator,
        shared: float,
        depth: int,
    ) -> None:
        self._regions, self._graph, self._cpu = regions, graph, cpu
        self._rng, self._shared, self._depth = rng, shared, depth

    def record(self) -> ScheduleRecord:
        """The schedule."""
        return ScheduleRecord(functions=tuple(self._functions()))

    def _functions(self) -> Iterator[FunctionChoices]:
        at, depth = 0, self._depth
        while at < len(self._regions):
            together = self._regions[at : at + depth]
            rolled = self._by_rows(together) if depth and len(together) == depth else None
            if rolled:
                yield FunctionChoices(BUILTIN, rolled)
                at += depth
            else:
                region = self._regions[at]
                choices = (self._choice(node, node, self._graph) for node in region.nodes)
                yield FunctionChoices(region.codegen, tuple(choices))
                at += 1

    def _by_rows(self, regions: Sequence[Region]) -> tuple[ChoiceRecord, ...] | None:
        nodes = [node for region in regions for node in region.nodes]
        if any(region.codegen != BUILTIN or len(region.nodes) > 1 for region in regions):
            return None
        for rows in self._rows(len(nodes)):
            try:
                group = tiles.of(nodes, self._graph, rows)
                found = [group.tiles[node.outputs[0]] for node in nodes]
                return tuple(
                    self._choice(node, tile.node, tile.graph, each)
                    for node, tile, each in zip(nodes, found, rows, strict=True)
                )
            except ValueError:
                continue
        return None

    def _rows(self, count: int) -> Iterator[list[int]]:
        """Rows at a time: random ones, the same or different for all layers, and at last one."""
        for _ in range(_ATTEMPTS):
            each = [int(n) for n in self._rng.integers(1, _MOST_ROWS + 1, count)]
            yield each if self._rng.random() < 0.5 else each[:1] * count
        yield [1] * count

    def _choice(self, node: Node, own: Node, graph: Graph, rows: int = 0) -> ChoiceRecord:
        """A kernel that fits the node's ``own`` form. Raises ValueError if none does."""
        kernels = fitting(own, graph, self._cpu).kernels
        if not kernels:
            raise ValueError("no kernel")
        kernel = kernels[int(self._rng.integers(len(kernels)))]
        form = SHARED if self._rng.random() < self._shared else SPECIALISED
        return ChoiceRecord(node.outputs[:1], kernel.symbol, form, rows=rows)
