"""Schedules in which as much as possible is computed row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from microgen.compiler import schedule
from microgen.compiler.codegens.base import Choice, Region
from microgen.compiler.partition import Partition
from microgen.compiler.schedule import Schedule
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.rows import patches, tiles
from microgen.kernels.fitting import fitting
from microgen.pipeline import planning
from microgen.target.cpu import Cpu

_MOST_ROWS = 4


def roll(monkeypatch: pytest.MonkeyPatch, seed: int = 0) -> list[int]:
    """From now on schedules have functions that compute row by row: random groups of functions that
    follow one another, with random rows at a time and kernels. Returns the number of layers of
    each group, which grows as projects are generated."""
    choose, sizes = schedule.choose, list[int]()
    rng = np.random.default_rng(seed)

    def rolled(partition: Partition, cpu: Cpu, *more: object, **named: object) -> Schedule:
        found = choose(partition, cpu, *more, **named)  # type: ignore[arg-type]
        regions = tuple(_grouped(found.partition.regions, partition.graph, cpu, rng))
        sizes.extend(len(region.choices) for region in regions if region.is_rolled)
        return replace(found, partition=replace(found.partition, regions=regions))

    monkeypatch.setattr(planning.schedule, "choose", rolled)
    return sizes


def _grouped(
    regions: Sequence[Region], graph: Graph, cpu: Cpu, rng: np.random.Generator
) -> Iterator[Region]:
    at = 0
    while at < len(regions):
        longest = [
            (end, made)
            for end in range(at + 1, len(regions) + 1)
            if (made := in_rows(regions[at:end], graph, cpu, rng))
        ]
        if longest and rng.random() < 0.9:
            at, region = longest[-1] if rng.random() < 0.6 else longest[rng.integers(len(longest))]
            yield region
        else:
            yield regions[at]
            at += 1


def in_rows(
    regions: Sequence[Region], graph: Graph, cpu: Cpu, rng: np.random.Generator
) -> Region | None:
    """The regions as one that computes rows, None if they cannot be."""
    if any(region.codegen != "builtin" for region in regions):
        return None
    nodes = [node for region in regions for node in region.nodes]
    for _ in range(8):
        rows = [int(rng.integers(1, _MOST_ROWS + 1))] * len(nodes)
        if rng.random() < 0.5:
            rows = [int(n) for n in rng.integers(1, _MOST_ROWS + 1, len(nodes))]
        columns = _columns(nodes, graph, rng)
        rows = [1] * len(nodes) if any(columns) else rows
        try:
            group = tiles.of(nodes, graph, rows, 0, columns)
            choices = [
                replace(_choice(node, group, n, cpu, rng), columns=some)
                for node, n, some in zip(nodes, rows, columns, strict=True)
            ]
        except ValueError:
            continue
        return Region("builtin", tuple(nodes), tuple(choices))
    return None


def _columns(nodes: Sequence[Node], graph: Graph, rng: np.random.Generator) -> list[int]:
    """Random columns of some of the patches that are possible."""
    columns = [0] * len(nodes)
    for first, end in patches.possible(nodes, graph):
        width = patches.width(nodes[first:end], graph)
        counts = [n for n in range(1, 7) if width % n == 0]
        if rng.random() < 0.7:
            # A patch may end with the layer that has windows.
            end -= int(end - first > 2 and rng.random() < 0.3)
            columns[first : end - 1] = [int(rng.choice(counts))] * (end - 1 - first)
    return columns


def _choice(
    node: Node, group: tiles.RowGroup, rows: int, cpu: Cpu, rng: np.random.Generator
) -> Choice:
    tile = group.tiles[node.outputs[0]]
    kernels = fitting(tile.node, tile.graph, cpu).kernels
    if not kernels:
        raise ValueError("no kernel")
    kernel = kernels[rng.integers(len(kernels))]
    return Choice((node,), kernel.symbol, is_shared=bool(rng.random() < 0.3), rows=rows)
