"""Ops that compute graphs that they contain: loops and branches."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.graph.ir.graph import Graph, Types
from microgen.graph.ops import cost as costs
from microgen.graph.ops.cost import ReferenceCost


def mismatch(graph: Graph, names: Sequence[str], given: Types, what: str) -> str | None:
    """A sentence if tensors of an inner graph have other types than the node's tensors ``given``,
    which ``what`` calls."""
    for name, mine, tensor in zip(names, graph.type_of(names), given, strict=True):
        if mine.dtype is not tensor.dtype or mine.shape != tensor.shape:
            return f"{what} {name!r} is {mine} inside and {tensor} outside"
        if mine.quant != tensor.quant:
            return f"{what} {name!r} has another scale inside than outside"
    return None


def cost(graph: Graph) -> ReferenceCost:
    """The cost of evaluating an inner graph once."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this package
    )

    found = [
        registry()[node.op].cost(
            node.attrs, graph.type_of(node.inputs), graph.type_of(node.outputs)
        )
        for node in graph.nodes
    ]
    kept = sum(graph.types[name].nbytes for node in graph.nodes for name in node.outputs)
    most = max((each.nbytes for each in found), default=0)
    own = costs.moved(None, [graph.types[name] for name in graph.results], ())
    return ReferenceCost(own.nbytes + kept + most, own.steps + sum(each.steps for each in found))
