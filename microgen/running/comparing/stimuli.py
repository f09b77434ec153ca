"""Samples to try a network with if the user gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microgen.base.manifest import PortRecord
from microgen.graph.ir.graph import Array, DType
from microgen.running.runner.samples import port_array

STRUCTURED = ("all minimum", "all maximum", "zero point", "ramp", "checkerboard")


def samples(ports: Sequence[PortRecord], *, random: int, seed: int = 0) -> dict[str, Array]:
    """Arrays ``[5 + random, *shape]`` by the model's tensor names: the five samples of
    ``STRUCTURED``, then uniformly random samples. Floats lie in [-1, 1], and integers without a
    scale in [0, 8) unless they are uint8; a fixed input has its value in every sample."""
    # A fixed seed, so that two runs compare the same samples.
    generator = np.random.default_rng(seed)
    return {port.tensor: _stack(port, random, generator) for port in ports}


def _stack(port: PortRecord, random: int, generator: np.random.Generator) -> Array:
    dtype = DType(port.dtype).numpy
    if port.fixed:
        return np.stack([port_array(port, port.fixed)] * (len(STRUCTURED) + random))
    # A fixed input has one allowed value, and the firmware ignores every other.
    low, high = _limits(port)
    size = int(np.prod(port.shape))
    # Floats get as many steps as int8 has values.
    steps = high - low + 1 if dtype.kind != "f" else 256
    ramp = np.arange(size) % steps * ((high - low) / (steps - 1)) + low
    made = [
        np.full(size, low),
        np.full(size, high),
        np.full(size, port.zero_point),
        ramp,
        # Neighbours of greatest contrast: sums of products with opposite signs, and windows at
        # edges.
        np.where(np.arange(size) % 2, high, low),
        *(_random(dtype, low, high, size, generator) for _ in range(random)),
    ]
    return np.stack([each.astype(dtype) for each in made]).reshape(-1, *port.shape)


def _limits(port: PortRecord) -> tuple[int, int]:
    """Least and greatest value. Plain integers are often positions, which have to be small; uint8
    integers are pixels."""
    dtype = DType(port.dtype).numpy
    # Inputs of floats are usually normalized to this range; booleans are 0 and 1.
    if dtype.kind in "fb":
        return (-1 if dtype.kind == "f" else 0), 1
    # Without a scale an integer is no quantized value, so its whole range has no meaning.
    is_whole = port.scale or dtype == np.uint8
    return (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if is_whole else (0, 7)


def _random(
    dtype: np.dtype[Any], low: int, high: int, size: int, generator: np.random.Generator
) -> Array:
    if dtype.kind == "f":
        return generator.uniform(low, high, size)
    # numpy's upper end is otherwise not included.
    return generator.integers(low, high, size, endpoint=True)
