"""Kernel cases of functions of one value: all int16 values, floats of every magnitude, special
floats.

A float kernel's bound is in units of the output's largest magnitude. So floats come in small cases,
each of about one magnitude.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from tests.kernels.conformance import conformance as c

EVERY = np.arange(-(2**15), 2**15).astype(np.int16)
SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.4028235e38, -3.4028235e38),
    *(1e-45, -1e-45, 1e-40, 1.1754944e-38, -1.1754944e-38, 2.0**-25, 1e30, -1e30),
    *(88.7, 88.73, -87.3, -87.4, -103.9, -104.1, 9.02, -17.4, 22.0, 0.55),
    *(-2.9999998, 3.0, -3.0, 6.0),
)  # fmt: skip


def float_case(name: str, op: str, attrs: Attrs, array: Array) -> c.Case:
    """A case with these values as the only input."""
    data = c.Tensor(ArrayType(array.shape, DType.FLOAT32), array.astype(np.float32))
    return c.Case(name, op, attrs, (data,), None, DType.FLOAT32)


def float_cases(op: str, attrs: Attrs) -> list[c.Case]:
    """Cases of special values one by one, random values in every binade, and random bit
    patterns."""
    rng = np.random.default_rng(0)
    arrays = [np.array([x]) for x in SPECIAL]
    for exponent in range(-149, 128):
        signs = rng.choice([-1, 1], 8)
        arrays.append(signs * rng.uniform(1, 2, 8) * 2.0**exponent)
    arrays += [rng.normal(0, 2.0 ** rng.uniform(-3, 6), 1) for _ in range(300)]
    bits = rng.integers(0, 2**32, 200, np.uint32).view(np.float32)
    arrays += [*np.split(bits, 200), rng.normal(0, 3, (2, 3, 1, 2, 5))]
    return [float_case(f"float {i}", op, attrs, array) for i, array in enumerate(arrays)]


def int16_case(op: str, attrs: Attrs, scale_in: float, scale_out: float) -> c.Case:
    """A case of every int16 value."""
    kind = ArrayType(EVERY.shape, DType.INT16, c.quant(scale_in))
    data = c.Tensor(kind, EVERY)
    name = f"scales {scale_in:g} and {scale_out:g}"
    return c.Case(name, op, attrs, (data,), c.quant(scale_out), DType.INT16)


def int16_cases(
    op: str, attrs: Attrs, corners: Sequence[tuple[float, float]], scale_out: float | None = None
) -> list[c.Case]:
    """Cases of the given pairs of scales, then of random ones."""
    rng = np.random.default_rng(1)
    pairs = [*corners]
    for _ in range(20):
        pairs.append((2.0 ** rng.uniform(-16, -6), scale_out or 2.0 ** rng.uniform(-16, -6)))
    return [int16_case(op, attrs, *pair) for pair in pairs]


def int16_tensor(rng: np.random.Generator, shape: tuple[int, ...], of: Quant) -> c.Tensor:
    """Random int16 values, often the extremes."""
    array = rng.integers(-(2**15), 2**15, shape)
    extreme = rng.choice([-(2**15), 2**15 - 1], shape)
    values = np.where(rng.random(shape) < 0.1, extreme, array).astype(np.int16)
    return c.Tensor(ArrayType(shape, DType.INT16, of), values)
