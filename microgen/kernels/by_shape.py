"""Memory and loops of kernels whose sizes follow from a node's shapes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from microgen.graph.ir.graph import Graph, Node
from microgen.kernels.identity import KEPT

T = TypeVar("T")

# The results of each function. Tests that change how loops are counted have their own.
results: dict[Hashable, dict[int, Any]] = {}
_numbers: dict[Hashable, int] = {}
_count = itertools.count()
_last: list[Any] = []  # the last node, its graph, and the number of their key


def remembered(function: Callable[[Node, Graph], T]) -> Callable[[Node, Graph], T]:
    """A function that does not depend on the values of constants, with its results by the node's
    attributes, the shapes and dtypes of its tensors, and the quantization of data and output.
    Networks have many layers of one shape, and each layer many kernels."""

    @functools.wraps(function)
    def of(node: Node, graph: Graph) -> T:
        number, known = _number(node, graph), results.setdefault(function, {})
        if number not in known:
            if len(known) == KEPT:
                known.clear()
            known[number] = function(node, graph)
        found: T = known[number]
        return found

    return of


def _number(node: Node, graph: Graph) -> int:
    """A number for each key, which no other key gets later."""
    # Many kernels are asked about one node in turn, and to hash its key takes long.
    if _last and _last[0] is node and _last[1] is graph:
        number: int = _last[2]
        return number
    key = _key(node, graph)
    if key not in _numbers:
        if len(_numbers) == KEPT:
            _numbers.clear()
        _numbers[key] = next(_count)
    _last[:] = node, graph, _numbers[key]
    return _numbers[key]


def _key(node: Node, graph: Graph) -> Hashable:
    types = [graph.types[name] for name in (*node.inputs, *node.outputs)]
    shapes = tuple((kind.shape, kind.dtype) for kind in types)
    return node.op, node.attrs, len(node.inputs), shapes, types[0].quant, types[-1].quant
