"""Operators that repeat values, or fill a tensor with zeros."""

from __future__ import annotations

from math import prod

import numpy as np

from tests.differential.makers import EVERY, Maker
from tests.differential.network import Network, UnfitError


def _tile(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) > 0 and _size(net, name) < 500)
    shape = net.shape(data)
    if not shape or _size(net, data) > 2000:
        raise UnfitError("a scalar, or much data")
    counts = [int(net.rng.integers(1, 4)) if net.chance(0.5) else 1 for _ in shape]
    result = tuple(n * count for n, count in zip(shape, counts, strict=True))
    stated = net.constant(np.array(counts, np.int64 if net.chance(0.3) else np.int32))
    net.add(code, [data, stated], net.output(dtype, result, like=data), "TileOptions")


def _size(net: Network, name: str) -> int:
    return prod(net.shape(name))


def _broadcast_args(net: Network, code: str, dtype: str) -> None:
    """A BROADCAST_ARGS of constants, in a network that has an input in any case."""
    net.pick(dtype)
    shape = net.rng.integers(1, 6, int(net.rng.integers(1, 5))).astype(dtype)
    own = np.where(net.rng.random(shape.size) < 0.4, 1, shape)[net.rng.integers(shape.size) :]
    operands = [net.constant(shape), net.constant(own.astype(dtype))]
    if net.chance(0.5):
        operands.reverse()
    net.add(code, operands, net.output(dtype, (shape.size,)))


def _zeros_like(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    net.add(code, [data], net.output(dtype, net.shape(data)), "ZerosLikeOptions")


MAKERS = (
    Maker(("TILE",), EVERY, _tile),
    Maker(("BROADCAST_ARGS",), ("int32", "int64"), _broadcast_args),
    Maker(("ZEROS_LIKE",), ("float32", "int32", "int64"), _zeros_like),
)
