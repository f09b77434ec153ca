"""Operators that change a shape, or return it."""

from __future__ import annotations

from math import prod

import numpy as np

from tests.differential.makers import EVERY, Maker
from tests.differential.network import Network, UnfitError


def _reshape(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape, size = net.shape(data), prod(net.shape(data))
    target = net.one_of([(size,), (1, size), (1, 1, 1, size), (1, *shape), shape[::-1]])
    if len(target) > 4:
        raise UnfitError("rank")
    stated = np.array(target, np.int32)
    if stated.size and net.chance(0.3):
        stated[int(net.rng.integers(len(stated)))] = -1
    output = net.output(dtype, target, like=data)
    if net.chance(0.3):
        net.add(code, [data], output, "ReshapeOptions", {"newShape": stated.tolist()})
    else:
        net.add(code, [data, net.constant(stated)], output)


def _squeeze(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: 1 in net.shape(name))
    shape = net.shape(data)
    ones = [axis for axis, n in enumerate(shape) if n == 1]
    axes = [axis for axis in ones if net.chance(0.5)] or ones
    result = tuple(n for axis, n in enumerate(shape) if axis not in axes)
    stated = [] if axes == ones and net.chance(0.5) else axes
    options = {"squeezeDims": stated} if stated else {}
    net.add(code, [data], net.output(dtype, result, like=data), "SqueezeOptions", options)


def _expand_dims(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) < 4)
    shape = net.shape(data)
    axis = int(net.rng.integers(len(shape) + 1))
    stated = net.constant(np.array([axis if net.chance(0.5) else axis - len(shape) - 1], np.int32))
    result = (*shape[:axis], 1, *shape[axis:])
    net.add(code, [data, stated], net.output(dtype, result, like=data), "ExpandDimsOptions")


def _broadcast_to(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape = tuple(int(net.rng.integers(1, 5)) if n == 1 else n for n in net.shape(data))
    shape = (2, *shape) if net.chance(0.3) and len(shape) < 4 else shape
    stated = net.constant(np.array(shape, np.int32))
    output = net.output(dtype, shape, like=data)
    net.add(code, [data, stated], output, "BroadcastToOptions")


def _fill(net: Network, code: str, dtype: str) -> None:
    value = net.pick(dtype, shape=())
    shape = tuple(int(n) for n in net.rng.integers(1, 6, net.rng.integers(1, 5)))
    stated = net.constant(np.array(shape, np.int32))
    net.add(code, [stated, value], net.output(dtype, shape, like=value), "FillOptions")


def _shape(net: Network, code: str, dtype: str) -> None:
    """A SHAPE. Its output is a constant, so something is made of it at once."""
    data = net.pick(dtype)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    to = str(net.one_of(["int32", "int64"]))
    output = net.output(to, (len(shape),))
    net.add(code, [data], output, "ShapeOptions", {"outType": 4 if to == "int64" else 2})


MAKERS = (
    Maker(("RESHAPE",), EVERY, _reshape, often=2),
    Maker(("SQUEEZE",), EVERY, _squeeze),
    Maker(("EXPAND_DIMS",), EVERY, _expand_dims),
    Maker(("BROADCAST_TO",), EVERY, _broadcast_to),
    Maker(("FILL",), EVERY, _fill),
    Maker(("SHAPE",), EVERY, _shape),
)
