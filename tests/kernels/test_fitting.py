"""Which kernels fit a node."""

from __future__ import annotations

from dataclasses import replace

from microgen import frontends
from microgen.kernels.fitting import fitting
from microgen.target.cpu import CPUS
from tests.support.places import SMALL

M4 = CPUS["cortex-m4f"]


def test_it_is_found_once_for_each_graph() -> None:
    graph = frontends.load(SMALL)
    node = graph.nodes[-1]
    found = fitting(node, graph, M4)
    assert found.kernels
    assert fitting(node, graph, M4) is found
    assert fitting(node, replace(graph), M4) is not found
    assert fitting(node, graph, CPUS["cortex-m0"]) is not found
