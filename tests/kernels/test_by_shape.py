"""Sizes of kernels that are counted once for all nodes of one shape."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels import by_shape
from tests.support.graphs import Builder


def test_nodes_of_one_shape_are_counted_once() -> None:
    counted: list[int] = []

    @by_shape.remembered
    def scratch(node: Node, graph: Graph) -> int:
        counted.append(graph.types[node.inputs[1]].size)
        return counted[-1]

    b = Builder()
    first = b.dense(b.dense(b.input(1, 8), 8), 8)
    graph = b.graph(b.dense(first, 4))
    assert [scratch(node, graph) for node in graph.nodes] == [64, 64, 32]
    assert counted == [64, 32]
