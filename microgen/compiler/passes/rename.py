"""Replaces tensors by others wherever they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from microgen.graph.ir.graph import Graph


def rename(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph in which each read of a key of ``names`` is a read of its value instead."""
    nodes = tuple(
        dataclasses.replace(n, inputs=tuple(names.get(i, i) for i in n.inputs)) for n in graph.nodes
    )
    return graph.replace(
        nodes=nodes,
        outputs=tuple(names.get(o, o) for o in graph.outputs),
        updates={v: names.get(n, n) for v, n in graph.updates.items()},
    )
