"""Replaces SAME and VALID by explicit padding, so that later passes see only numbers."""

from __future__ import annotations

import dataclasses

from microgen.compiler.passes.windows import window_of
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.geometry import resolve


def canonical_padding(graph: Graph) -> Graph:
    """The graph with every window's padding as (top, left, bottom, right)."""
    return graph.replace(nodes=tuple(_explicit(node, graph) for node in graph.nodes))


def _explicit(node: Node, graph: Graph) -> Node:
    window = window_of(node, graph)
    if window is None:
        return node
    attrs = window.attrs
    pads = resolve(attrs.padding, window.data, window.size, attrs.strides, window.dilation)
    return dataclasses.replace(node, attrs=dataclasses.replace(attrs, padding=pads))
