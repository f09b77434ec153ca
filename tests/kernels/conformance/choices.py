"""Operands of ``where``: a condition and two tensors, all broadcast."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.ir.graph import DType
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting

DTYPES = tuple(dtype for dtype in DType if dtype is not DType.UINT8)
Shapes = tuple[broadcasting.Shape, ...]


def random_shapes(rng: np.random.Generator) -> Shapes:
    """Three shapes that broadcast. The condition's is often that of one of the others."""
    lhs, rhs = broadcasting.random_shapes(rng)
    shape = np.broadcast_shapes(lhs, rhs)
    partial = tuple(1 if rng.random() < 0.4 else n for n in shape)
    choices = [lhs, rhs, shape, partial, partial[len(partial) // 2 :]]
    return (choices[int(rng.integers(len(choices)))], lhs, rhs)


def operands(
    rng: np.random.Generator, dtype: DType, shapes: Shapes
) -> tuple[c.Tensor, c.Tensor, c.Tensor]:
    """Random values. Both tensors have the same quantization."""
    condition = broadcasting.operand(rng, DType.BOOL, shapes[0])
    lhs, rhs = (broadcasting.operand(rng, dtype, shape) for shape in shapes[1:])
    kind = dataclasses.replace(rhs.type, quant=lhs.type.quant)
    return condition, lhs, c.Tensor(kind, rhs.array)
