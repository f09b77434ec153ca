"""Reshapes and transposes fold into all kinds of nodes, and values and names are kept."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.compiler import passes
from microgen.compiler.partition import sections
from microgen.compiler.passes.cancel_layouts import cancel_layouts
from microgen.compiler.passes.views import roots
from microgen.graph.ir import layouts, verify
from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.compiler.passes.layout_graphs import LayoutGraph


def _changes(graph: Graph) -> int:
    return sum(node.op == "transpose" for node in graph.nodes)


def _check(seed: int) -> tuple[int, int]:
    drawn = LayoutGraph(seed)
    graph, sample = drawn.graph(), drawn.sample()
    expected = evaluate(graph, sample, registry())
    found = cancel_layouts(graph)
    verify.check(found, registry())
    values = evaluate(found, sample, registry())
    for old, new in zip(graph.outputs, found.outputs, strict=True):
        np.testing.assert_array_equal(expected[old], values[new])
    for name, shown in layouts.shown(found, graph.types).items():
        if name in values and shown.tensor in expected:
            whole = expected[shown.tensor]
            own = values[name] if shown.is_plain else shown.filled(values[name], whole)
            np.testing.assert_array_equal(own, whole, err_msg=name)
    _check_sections(passes.run(graph), graph, sample, expected)
    return _changes(graph), _changes(found)


def _check_sections(
    after: Graph, graph: Graph, sample: dict[str, Array], expected: dict[str, Array]
) -> None:
    values = evaluate(after, sample, registry())
    for old, new in zip(graph.outputs, after.outputs, strict=True):
        np.testing.assert_array_equal(expected[old], values[new])
    whole = sections.with_sections(after, after.inputs)
    bytes_of = roots(whole)
    for name, offset in sections.offsets(whole).items():
        own, data = values[name].reshape(-1), values[bytes_of[name]].reshape(-1)
        np.testing.assert_array_equal(data[offset // 4 :][: own.size], own)


def test_random_graphs_keep_values_and_names_and_lose_changes() -> None:
    before, after = map(sum, zip(*(_check(seed) for seed in range(150)), strict=True))
    assert after < 0.8 * before


@pytest.mark.slow
@pytest.mark.parametrize("first", range(150, 5000, 500))
def test_more_random_graphs_keep_values_and_names(first: int) -> None:
    for seed in range(first, first + 500):
        _check(seed)
