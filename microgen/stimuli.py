"""Samples to try a network with when the user brings none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.ir.graph import Array, DType
from microgen.manifest import PortRecord

STRUCTURED = ("all minimum", "all maximum", "zero point", "ramp", "checkerboard")


def samples(ports: Sequence[PortRecord], *, random: int, seed: int = 0) -> dict[str, Array]:
    """Arrays ``[5 + random, *shape]`` by the model's tensor names: the five of ``STRUCTURED``,
    then uniformly random ones. Integer dtypes only."""
    generator = np.random.default_rng(seed)
    return {port.tensor: _stack(port, random, generator) for port in ports}


def _stack(port: PortRecord, random: int, generator: np.random.Generator) -> Array:
    dtype = DType(port.dtype).numpy
    limits = np.iinfo(dtype)
    low, high = limits.min, limits.max
    size = int(np.prod(port.shape))
    ramp = np.arange(size) % (int(high) - int(low) + 1) + int(low)
    made = [
        np.full(size, low),
        np.full(size, high),
        np.full(size, port.zero_point),
        ramp,
        np.where(np.arange(size) % 2, high, low),
        *(generator.integers(low, high, size, endpoint=True) for _ in range(random)),
    ]
    return np.stack(made).astype(dtype).reshape(-1, *port.shape)
