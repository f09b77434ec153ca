"""What computing an op's reference takes, said from attributes and types before it is done.

The bounds are upper ones of the numpy references, which count in float64 and int64 whatever the
dtype. ``tests/ops/test_cost.py`` measures the bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.ir.graph import TensorType

_CALL = 2000  # steps that calls of numpy take, whatever they compute


@dataclass(frozen=True, slots=True)
class Cost:
    """``nbytes``: the most that results and what is held beside them take at one time; operands
    are not counted. ``steps``: multiply-accumulates, and elements that are gone through."""

    nbytes: int
    steps: int


Rule = Callable[[Any, Sequence[TensorType], Sequence[TensorType]], Cost]


def elementwise(_attrs: Any, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Cost:
    """Of ops that compute each element by arithmetic on some others: up to eight numbers of eight
    bytes are held for each."""
    elements = _elements(inputs) + _elements(outputs)
    return Cost(64 * elements, _CALL + 16 * elements)


def moved(_attrs: Any, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Cost:
    """Of ops that move or convert values."""
    elements = _elements(inputs) + _elements(outputs)
    return Cost(16 * elements, _CALL + 2 * elements)


def by_rows(_attrs: Any, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Cost:
    """Of ops that make the rows of their output one by one, each from a row of the first input and
    all of the others."""
    rows = math.prod(outputs[0].shape[:-1])
    return products(inputs, outputs, rows * _elements(inputs[1:]), calls=rows)


def products(
    inputs: Sequence[TensorType], outputs: Sequence[TensorType], macs: int, *, calls: int = 1
) -> Cost:
    """Of ``macs`` products, added up in so many calls of numpy."""
    read, made = _elements(inputs), _elements(outputs)
    return Cost(16 * read + 112 * made, macs + 4 * read + 16 * made + _CALL * calls)


def _elements(types: Sequence[TensorType]) -> int:
    return sum(tensor.size for tensor in types)
