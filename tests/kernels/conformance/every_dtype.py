"""Tensors of every dtype, for ops that only move values."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from tests.kernels.conformance import conformance as c

DTYPES = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32, DType.BOOL)


def dtype_of(seed: int) -> DType:
    """The dtype of a seed: each in turn."""
    return DTYPES[seed % len(DTYPES)]


def random_type(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> ArrayType:
    """A type with a scale if the dtype has one, and for int8 with a zero point."""
    quant = c.random_quant(rng) if dtype in (DType.INT8, DType.INT16) else None
    if quant is not None and dtype is DType.INT16:
        quant = Quant(quant.scale, (0,))
    return ArrayType(shape, dtype, quant)


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    """Values over the dtype's whole range."""
    if dtype is DType.FLOAT32:
        return rng.normal(0, 10.0, shape).astype(np.float32)
    if dtype is DType.BOOL:
        return rng.integers(0, 2, shape).astype(np.bool_)
    limits = np.iinfo(dtype.numpy)
    return rng.integers(limits.min, limits.max, shape, dtype.numpy, endpoint=True)


def tensor(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> c.Tensor:
    """A random type with random values."""
    return c.Tensor(random_type(rng, shape, dtype), random_array(rng, shape, dtype))
