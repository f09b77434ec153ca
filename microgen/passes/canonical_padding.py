"""Replaces SAME and VALID by explicit pads."""

from __future__ import annotations

import dataclasses

from microgen.ir.graph import Graph, Node
from microgen.passes.windows import pads_of, window_of


def canonical_padding(graph: Graph) -> Graph:
    """The graph with every window's padding as (top, left, bottom, right)."""
    return graph.replace(nodes=tuple(_explicit(node, graph) for node in graph.nodes))


def _explicit(node: Node, graph: Graph) -> Node:
    window = window_of(node, graph)
    if window is None:
        return node
    attrs = dataclasses.replace(window.attrs, padding=pads_of(window))
    return dataclasses.replace(node, attrs=attrs)
