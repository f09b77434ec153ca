from itertools import product
from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops.quantization.conversions import ACCEPTED, CastAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import random_array

SPECIAL = np.array(
    [
        *(0.0, -0.0, 0.9, -0.9, 1.0, -1.0, 255.9, 256),
        *(127.9, 128, -128.9, -129, 32767.9, 32768, -32768.9, -32769, 65535.9, 65536),
        *(2147483520, 2147483648, -2147483648, -2147483904, 9.2233715e18, 9.223372e18),
        *(4294967040.0, 4294967296.0, 1.8446742e19, 1.8446744e19),
        *(-9.223372e18, -9.2233731e18, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-40),
    ],
    np.float32,
)


def values(rng: np.random.Generator, dtype: DType) -> Array:
    """Values of the whole range; the ends are included."""
    if dtype is DType.FLOAT32:
        magnitudes = 10.0 ** rng.uniform(-3, 20, 100)
        return np.concatenate([SPECIAL, (rng.normal(0, 1, 100) * magnitudes).astype(np.float32)])
    if dtype is DType.BOOL:
        return random_array(rng, (9,), dtype)
    limits = np.iinfo(dtype.numpy)
    middle = [0, 1] if dtype.numpy.kind == "u" else [-1, 0, 1]
    ends = [limits.min, limits.min + 1, *middle, limits.max - 1, limits.max]
    return np.concatenate([np.array(ends, dtype.numpy), random_array(rng, (100,), dtype)])


def _case(source: DType, target: DType) -> c.Case:
    array = values(np.random.default_rng(1), source)
    data = c.Tensor(TensorType(array.shape, source), array)
    return c.Case(f"{source} to {target}", "cast", CastAttrs(), (data,), None, target)


CASES = [_case(*pair) for pair in product(ACCEPTED, repeat=2)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES, tmp_path)
