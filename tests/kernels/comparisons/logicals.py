"""The logical ops, and the TFLite operator of each."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import DType
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting

OPERATORS = {
    "logical_and": ("LOGICAL_AND", "LogicalAndOptions"),
    "logical_or": ("LOGICAL_OR", "LogicalOrOptions"),
    "logical_not": ("LOGICAL_NOT", "LogicalNotOptions"),
}


def operands(seed: int, op: str) -> tuple[c.Tensor, ...]:
    """Random bool tensors that broadcast, one for logical_not."""
    rng = np.random.default_rng(seed)
    shapes = broadcasting.random_shapes(rng)[: 1 if op == "logical_not" else 2]
    return tuple(broadcasting.operand(rng, DType.BOOL, shape) for shape in shapes)
