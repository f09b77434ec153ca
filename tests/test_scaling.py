"""Large graphs: 500 layers well under the limit, and time that grows like the graph."""

from __future__ import annotations

import time
from pathlib import Path

from microgen.ir.graph import Graph
from tests.compiling import write_project
from tests.graphs import Builder


def _deep(layers: int) -> Graph:
    """Convolutions, depthwise convolutions, and a skip connection every fifth layer."""
    b = Builder()
    before = data = b.input(1, 8, 8, 4)
    for i in range(layers):
        layer = b.conv(data, 4) if i % 3 else b.depthwise(data)
        if i % 5 == 4:
            layer = b.add(layer, before)
        before, data = data, layer
    return b.graph(data)


def _seconds(layers: int, folder: Path) -> float:
    """The least of three, because other programs disturb each."""
    graph, taken = _deep(layers), []
    for i in range(3):
        start = time.process_time()
        write_project(graph, folder / f"{layers}_{i}")
        taken.append(time.process_time() - start)
    return min(taken)


def test_generating_500_layers_is_quick_and_twice_as_many_take_less_than_thrice(
    tmp_path: Path,
) -> None:
    half, whole = _seconds(250, tmp_path), _seconds(500, tmp_path)
    assert whole < 15
    assert whole < 3 * half
