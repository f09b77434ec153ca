"""The shapes, quantizations and values of random networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import tflite

Array = npt.NDArray[Any]
Quantization = tuple[float, int]  # (scale, zero point) of a whole tensor

SAMPLES = 3
ACTIVATIONS = (
    tflite.ActivationFunctionType.NONE,
    tflite.ActivationFunctionType.RELU,
    tflite.ActivationFunctionType.RELU6,
    tflite.ActivationFunctionType.RELU_N1_TO_1,
)
VERSIONS = {"BROADCAST_TO": 3, "FILL": 3}  # the lowest in which LiteRT has every dtype; otherwise 1
_SIZES = (1, 2, 3, 4, 5, 6, 8)
_DEPTHS = (1, 2, 3, 4, 5, 6, 8, 13, 17)  # some are longer than what kernels compute at once


def shape(rng: np.random.Generator, rank: int | None = None) -> tuple[int, ...]:
    """A random shape of that rank, or of up to 4 dimensions and mostly 4, like images."""
    rank = int(rng.choice([1, 2, 3, 4, 4, 4, 4])) if rank is None else rank
    sizes = [int(n) for n in rng.choice(_SIZES, rank)]
    if rank:
        sizes[-1] = int(rng.choice(_DEPTHS))
    if rank == 4:
        sizes[0] = 1 + int(rng.random() < 0.2)
    return tuple(sizes)


def depth(rng: np.random.Generator) -> int:
    """A number of channels or features."""
    return int(rng.choice(_DEPTHS))


def quantization(rng: np.random.Generator, dtype: str) -> Quantization:
    """A usual or extreme scale. For int8 and uint8 it has any zero point, often the least or
    greatest."""
    if dtype == "int16":
        power = -rng.integers(6, 17) if rng.random() < 0.4 else rng.uniform(-16, -4)
        return float(np.float32(2.0**power)), 0
    low, high = (-9, 2) if rng.random() < 0.5 else (-6, -2)
    zero_point = int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))]))
    least = np.iinfo(dtype).min
    return float(np.float32(2.0 ** rng.uniform(low, high))), zero_point + 128 + least


def samples(
    rng: np.random.Generator,
    dtype: str,
    shape: tuple[int, ...],
    low: int | None = None,
    high: int | None = None,
) -> list[Array]:
    """Random arrays. Without bounds, the first of quantized integers has only the extremes."""
    arrays = [sample(rng, dtype, shape, low, high) for _ in range(SAMPLES)]
    if dtype in ("int8", "uint8", "int16") and low is None and high is None:
        limits = np.iinfo(dtype)
        arrays[0] = np.asarray(rng.choice(np.array([limits.min, limits.max], dtype), shape))
    return arrays


def sample(
    rng: np.random.Generator,
    dtype: str,
    shape: tuple[int, ...],
    low: int | None = None,
    high: int | None = None,
) -> Array:
    """Random values of the dtype's range, or from ``low`` to ``high``.

    Floats have no upper bound.
    """
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape)).astype(np.bool_)
    if dtype == "float32":
        values = np.asarray(rng.normal(0, 2.0 ** rng.uniform(-4, 4), shape))
        values = np.where(rng.random(shape) < 0.1, np.round(values), values)
        values = values if low is None else np.abs(values) + low
        return np.asarray(values, np.float32)
    limits = np.iinfo(dtype)
    span = 2 ** int(rng.integers(2, limits.bits)) if dtype in ("int32", "int64") else 2**16
    first = max(limits.min, -span) if low is None else low
    last = min(limits.max, span - 1) if high is None else high
    return np.asarray(rng.integers(first, last, shape, np.int64, endpoint=True)).astype(dtype)


def float_weights(
    rng: np.random.Generator, shape: tuple[int, ...], channels: int
) -> tuple[Array, Array]:
    """Weights that roughly keep magnitudes, and a bias."""
    deviation = (channels / max(1, math.prod(shape))) ** 0.5
    return (
        rng.normal(0, deviation, shape).astype(np.float32),
        rng.normal(0, 1, channels).astype(np.float32),
    )
