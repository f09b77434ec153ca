"""The cost of an op's reference, from attributes and types, before it runs.

The costs are upper bounds for the numpy references, which compute in float64 and int64 whatever
the dtype. ``tests/graph/ops/test_cost.py`` measures the bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from microgen.graph.ir.graph import Types

_CALL = 2000  # steps of any call of numpy, in addition to its work


@dataclass(frozen=True, slots=True)
class ReferenceCost:
    """``nbytes`` is the most memory that results and intermediates take at one time, without the
    operands. ``steps`` is the number of multiply-accumulates and of elements visited."""

    nbytes: int
    steps: int


Rule = Callable[[Any, Types, Types], ReferenceCost]


def elementwise(_attrs: Any, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost of elementwise arithmetic. For each element up to eight numbers of eight bytes are
    in memory."""
    elements = _elements(inputs) + _elements(outputs)
    return ReferenceCost(64 * elements, _CALL + 16 * elements)


def moved(_attrs: Any, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost of ops that move or convert values."""
    elements = _elements(inputs) + _elements(outputs)
    return ReferenceCost(16 * elements, _CALL + 2 * elements)


def rearranged(_attrs: Any, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost of ops that copy elements to other places with a single call of numpy: nothing is in
    memory except the result."""
    nbytes = sum(tensor.nbytes for tensor in outputs)
    return ReferenceCost(nbytes, _CALL + 2 * (_elements(inputs) + _elements(outputs)))


def by_rows(_attrs: Any, inputs: Types, outputs: Types) -> ReferenceCost:
    """The cost of ops that make the rows of their output one by one, each from a row of the first
    input and from all elements of the other inputs."""
    rows = math.prod(outputs[0].shape[:-1])
    return products(inputs, outputs, rows * _elements(inputs[1:]), calls=rows)


def products(inputs: Types, outputs: Types, macs: int, *, calls: int = 1) -> ReferenceCost:
    """The cost of ``macs`` products, added up in a number of calls of numpy."""
    read, made = _elements(inputs), _elements(outputs)
    return ReferenceCost(16 * read + 112 * made, macs + 4 * read + 16 * made + _CALL * calls)


def _elements(types: Types) -> int:
    return sum(tensor.size for tensor in types)
