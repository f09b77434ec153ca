"""Operators that change the order of elements, or join tensors."""

from __future__ import annotations

import numpy as np

from tests.differential.makers import EVERY, Maker
from tests.differential.network import Network, Shape, UnfitError
from tests.differential.stock import Array


def _alike(net: Network, like: str, shape: Shape) -> str:
    """A tensor of that shape with the dtype of ``like``, and the same quantization."""
    if net.chance(0.5):
        return net.constant_like(like, shape)
    wanted = net.quantization(like)
    return net.pick(
        net.dtype(like),
        fits=lambda name: net.quantization(name) == wanted,
        shape=shape,
        quantization=wanted,
    )


def _concatenate(net: Network, code: str, dtype: str) -> None:
    first = net.pick(dtype)
    shape = net.shape(first)
    if not shape:
        raise UnfitError("a scalar")
    axis = int(net.rng.integers(len(shape)))
    inputs = [first, first] if net.chance(0.3) else [first]
    other = (*shape[:axis], int(net.rng.integers(1, 4)), *shape[axis + 1 :])
    if dtype == "uint8" and net.chance(0.5):
        second = net.pick(dtype, shape=other)
    else:
        second = _alike(net, first, other)
    inputs.insert(int(net.rng.integers(len(inputs) + 1)), second)
    size = sum(net.shape(name)[axis] for name in inputs)
    output = net.output(dtype, (*shape[:axis], size, *shape[axis + 1 :]), like=first)
    stated = axis - len(shape) if net.chance(0.3) else axis
    net.add(code, inputs, output, "ConcatenationOptions", {"axis": stated})


def _pack(net: Network, code: str, dtype: str) -> None:
    first = net.pick(dtype, fits=lambda name: len(net.shape(name)) < 4)
    shape = net.shape(first)
    inputs = [first, *([_alike(net, first, shape)] if net.chance(0.8) else [])]
    axis = int(net.rng.integers(len(shape) + 1))
    output = net.output(dtype, (*shape[:axis], len(inputs), *shape[axis:]), like=first)
    options = {"axis": axis, "valuesCount": len(inputs)}
    net.add(code, inputs, output, "PackOptions", options)


def _transpose(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape = net.shape(data)
    order = net.rng.permutation(len(shape)).astype(np.int32)
    output = net.output(dtype, tuple(shape[i] for i in order), like=data)
    net.add(code, [data, net.constant(order)], output, "TransposeOptions")


def _block(net: Network) -> int:
    return int(net.rng.integers(1, 4))


def _space_to_depth(net: Network, code: str, dtype: str) -> None:
    block = _block(net)
    data = net.pick(dtype, 4, lambda name: not any(n % block for n in net.shape(name)[1:3]))
    n, height, width, depth = net.shape(data)
    if height % block or width % block:
        raise UnfitError("blocks do not divide it")
    shape = (n, height // block, width // block, depth * block**2)
    output = net.output(dtype, shape, like=data)
    net.add(code, [data], output, "SpaceToDepthOptions", {"blockSize": block})


def _depth_to_space(net: Network, code: str, dtype: str) -> None:
    block = _block(net)
    data = net.pick(dtype, 4, lambda name: net.shape(name)[3] % block**2 == 0)
    n, height, width, depth = net.shape(data)
    if depth % block**2:
        raise UnfitError("blocks do not divide it")
    shape = (n, height * block, width * block, depth // block**2)
    output = net.output(dtype, shape, like=data)
    net.add(code, [data], output, "DepthToSpaceOptions", {"blockSize": block})


def _space_to_batch(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, net.one_of([3, 4, 4]))
    n, *sizes, depth = net.shape(data)
    blocks = net.rng.integers(1, 4, len(sizes)).astype(np.int32)
    before = net.rng.integers(0, 3, len(sizes))
    after = -(np.array(sizes) + before) % blocks + blocks * net.rng.integers(0, 2, len(sizes))
    whole = np.array(sizes) + before + after
    shape = (n * int(np.prod(blocks)), *(int(k) for k in whole // blocks), depth)
    inputs = [data, net.constant(blocks), net.constant(_pairs(before, after))]
    net.add(code, inputs, net.output(dtype, shape, like=data), "SpaceToBatchNDOptions")


def _batch_to_space(net: Network, code: str, dtype: str) -> None:
    blocks = net.rng.integers(1, 3, 2).astype(np.int32)
    count = int(np.prod(blocks))
    data = net.pick(
        dtype,
        4,
        lambda name: net.shape(name)[0] % count == 0,
        shape=None if net.chance(0.7) else (count, *(int(k) for k in net.rng.integers(1, 5, 3))),
    )
    n, *sizes, depth = net.shape(data)
    if n % count:
        raise UnfitError("blocks do not divide it")
    whole = np.array(sizes) * blocks
    before = (net.rng.random(2) * np.minimum(whole, 3)).astype(np.int64)
    after = (net.rng.random(2) * np.minimum(whole - before, 3)).astype(np.int64)
    shape = (n // count, *(int(k) for k in whole - before - after), depth)
    inputs = [data, net.constant(blocks), net.constant(_pairs(before, after))]
    net.add(code, inputs, net.output(dtype, shape, like=data), "BatchToSpaceNDOptions")


def _pairs(before: Array, after: Array) -> Array:
    return np.stack([before, after], axis=1).astype(np.int32)


MAKERS = (
    Maker(("CONCATENATION",), EVERY, _concatenate, often=2),
    Maker(("PACK",), EVERY, _pack),
    Maker(("TRANSPOSE",), EVERY, _transpose),
    Maker(("SPACE_TO_DEPTH",), EVERY, _space_to_depth),
    Maker(("DEPTH_TO_SPACE",), EVERY, _depth_to_space),
    Maker(("SPACE_TO_BATCH_ND",), EVERY, _space_to_batch),
    Maker(("BATCH_TO_SPACE_ND",), EVERY, _batch_to_space),
)
