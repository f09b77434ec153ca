"""Cases of two tensors of plain integers, of every dtype."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType
from microgen.graph.ops.constraints import INTEGERS
from tests.kernels.conformance import conformance as c
from tests.kernels.elementwise import broadcasting


def values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Values of the whole range, small ones, and often the ends."""
    limits = np.iinfo(dtype.numpy)
    low, high = limits.min, limits.max
    if rng.random() < 0.5:
        low, high = max(low, -9), 9
    array = rng.integers(low, high, shape, dtype.numpy, endpoint=True)
    ends = rng.choice(np.array([limits.min, limits.max, 1, limits.max // 3], dtype.numpy), shape)
    return np.where(rng.random(shape) < 0.2, ends, array)


def case(seed: int, op: str, attrs: Attrs, dtype: DType, *, output: DType | None = None) -> c.Case:
    """A case of shapes that broadcast, with few zeros on the right."""
    rng = np.random.default_rng(seed)
    shapes = broadcasting.random_shapes(rng)
    lhs, rhs = (values(rng, dtype, shape) for shape in shapes)
    rhs = np.where((rhs == 0) & (seed % 7 > 0), 1, rhs).astype(dtype.numpy)
    inputs = tuple(c.Tensor(ArrayType(a.shape, dtype), np.asarray(a)) for a in (lhs, rhs))
    return c.Case(f"{op} {dtype.value} {seed}", op, attrs, inputs, None, output or dtype)


def cases(op: str, attrs: Attrs, count: int, *, output: DType | None = None) -> list[c.Case]:
    """``count`` cases of each dtype."""
    return [
        case(seed, op, attrs, dtype, output=output) for dtype in INTEGERS for seed in range(count)
    ]
