"""Memory and loops of kernels whose sizes follow from a node's shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.identity import KEPT

T = TypeVar("T")

# The results of each function. Tests that change how loops are counted have their own.
results: dict[Hashable, dict[Hashable, Any]] = {}


def remembered(function: Callable[[Node, Graph], T]) -> Callable[[Node, Graph], T]:
    """A function that does not depend on the values of constants, with its results by the node's
    attributes, the shapes and dtypes of its tensors, and the quantization of data and output.
    Networks have many layers of one shape, and each layer many kernels."""

    @functools.wraps(function)
    def of(node: Node, graph: Graph) -> T:
        key, known = _key(node, graph), results.setdefault(function, {})
        if key not in known:
            if len(known) == KEPT:
                known.clear()
            known[key] = function(node, graph)
        found: T = known[key]
        return found

    return of


def _key(node: Node, graph: Graph) -> Hashable:
    types = [graph.types[name] for name in (*node.inputs, *node.outputs)]
    shapes = tuple((kind.shape, kind.dtype) for kind in types)
    return node.op, node.attrs, len(node.inputs), shapes, types[0].quant, types[-1].quant
