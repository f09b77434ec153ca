"""Random data of any dtype, for both oracles."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import litert_oracle as o

FAMILIES = (DType.INT8, DType.INT16, DType.FLOAT32)
_NUMBERS = (-np.inf, np.inf, np.nan, -1.0, 0.0, 1.0)


def kernel_data(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> c.Tensor:
    """An input of a conformance case."""
    if dtype is DType.INT8:
        return c.int8(rng, shape, c.random_quant(rng))
    if dtype is DType.INT16:
        return c.int16(rng, shape, 10 ** rng.uniform(-4, -1))
    if dtype is DType.FLOAT32:
        return c.float32(rng, shape, 10 ** rng.uniform(-2, 2))
    return c.Tensor(ArrayType(shape, dtype), _plain(rng, dtype, shape))


def special_floats(rng: np.random.Generator, shape: tuple[int, ...]) -> c.Tensor:
    """Infinities, NaN, and several equal numbers."""
    array = rng.choice(np.array(_NUMBERS, np.float32), shape)
    return c.Tensor(ArrayType(shape, DType.FLOAT32), array)


def litert_data(
    rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]
) -> tuple[ArrayType, Array]:
    """An input of a case for LiteRT."""
    if dtype is DType.INT8:
        return o.random_activation(rng, shape), o.random_values(rng, shape)
    if dtype is DType.INT16:
        scale = float(np.float32(2.0 ** rng.uniform(-15, -3)))
        array = rng.integers(-(2**15), 2**15, shape)
        if rng.random() < 0.3:
            array = rng.choice(np.array([-(2**15), 2**15 - 1]), shape)
        return ArrayType(shape, dtype, Quant((scale,), (0,))), array.astype(np.int16)
    if dtype is DType.FLOAT32:
        return o.float_type(shape), o.random_floats(rng, shape)
    return ArrayType(shape, dtype), _plain(rng, dtype, shape)


def _plain(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    limits = np.iinfo(dtype.numpy)
    array = rng.integers(limits.min, limits.max, shape, endpoint=True)
    return (array if rng.random() < 0.5 else array % 7 - 3).astype(dtype.numpy)
