"""Operators that take parts of a tensor."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.differential.makers import EVERY, WITHOUT_UINT8, Maker
from tests.differential.network import Network, Shape, UnfitError
from tests.differential.stock import Array


def _data(net: Network, dtype: str) -> tuple[str, Array]:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) > 0)
    if not net.shape(data):
        raise UnfitError("a scalar")
    return data, np.array(net.shape(data))


def _slice(net: Network, code: str, dtype: str) -> None:
    data, shape = _data(net, dtype)
    begin = (net.rng.random(len(shape)) * shape).astype(np.int32)
    size = (1 + net.rng.random(len(shape)) * (shape - begin)).astype(np.int32)
    size = np.minimum(size, shape - begin).astype(np.int32)
    output = net.output(dtype, tuple(map(int, size)), like=data)
    whole = (size == shape - begin) & (net.rng.random(len(shape)) < 0.5)
    stated = np.where(whole, -1, size).astype(np.int32)
    net.add(code, [data, net.constant(begin), net.constant(stated)], output, "SliceOptions")


def _reverse(net: Network, code: str, dtype: str) -> None:
    """Axes that follow each other, because LiteRT refuses others."""
    data, shape = _data(net, dtype)
    first = int(net.rng.integers(len(shape)))
    axes = range(first, int(net.rng.integers(first, len(shape))) + 1)
    stated = np.array([a - len(shape) if net.chance(0.3) else a for a in axes], np.int32)
    output = net.output(dtype, net.shape(data), like=data)
    net.add(code, [data, net.constant(stated)], output, "ReverseV2Options")


def _update(net: Network, code: str, dtype: str) -> None:
    """Indices are computed or constant, and may be outside."""
    data, shape = _data(net, dtype)
    part = tuple(int(net.rng.integers(1, n + 1)) for n in shape)
    update = net.constant_like(data, part)
    index: str = net.pick("int32", shape=(len(shape),))
    if net.chance(0.5):
        values = net.rng.integers(-2, shape + 2).astype(np.int64 if net.chance(0.5) else np.int32)
        index = net.constant(values)
    output = net.output(dtype, net.shape(data), like=data)
    net.add(code, [data, update, index], output, "DynamicUpdateSliceOptions")


def _strided_slice(net: Network, code: str, dtype: str) -> None:
    """Forwards and backwards; some axes are removed, some whole by a mask."""
    data, shape = _data(net, dtype)
    strides = net.rng.integers(1, 4, len(shape)) * net.rng.choice([1, 1, -1], len(shape))
    begin = (net.rng.random(len(shape)) * shape).astype(np.int64)
    end = np.where(strides > 0, shape, -shape - 1)
    shrink = net.rng.random(len(shape)) < 0.15
    strides = np.where(shrink, 1, strides)
    end = np.where(shrink, begin + 1, end)
    masked = (net.rng.random(len(shape)) < 0.3) & ~shrink
    slices = [
        slice(None if m else int(b), None if m or e < 0 else int(e), int(s))
        for m, b, e, s in zip(masked, begin, end, strides, strict=True)
    ]
    sizes = np.array([len(range(*s.indices(int(n)))) for s, n in zip(slices, shape, strict=True)])
    bits = 1 << np.arange(len(shape))
    masks = int((bits * masked).sum())
    options = {"beginMask": masks, "endMask": masks, "shrinkAxisMask": int((bits * shrink).sum())}
    inputs = [data, *(net.constant(a.astype(np.int32)) for a in (begin, end, strides))]
    output = net.output(dtype, tuple(int(n) for n in sizes[~shrink]), like=data)
    net.add(code, inputs, output, "StridedSliceOptions", options)


def _parts(net: Network, data: str, axis: int, sizes: list[int]) -> list[str]:
    shape = net.shape(data)
    shapes = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]
    return [net.output(net.dtype(data), shape, like=data) for shape in shapes]


def _split(net: Network, code: str, dtype: str) -> None:
    data, shape = _data(net, dtype)
    axis = int(net.rng.integers(len(shape)))
    size = int(shape[axis])
    count = int(net.one_of([n for n in range(1, size + 1) if size % n == 0]))
    where = net.constant(np.array(axis, np.int32))
    outputs = _parts(net, data, axis, [size // count] * count)
    net.add(code, [where, data], outputs, "SplitOptions", {"numSplits": count})


def _split_v(net: Network, code: str, dtype: str) -> None:
    data, shape = _data(net, dtype)
    axis = int(net.rng.integers(len(shape)))
    size = int(shape[axis])
    cuts = sorted({0, size, *(int(n) for n in net.rng.integers(0, size + 1, 2))})
    sizes = [b - a for a, b in pairwise(cuts)]
    stated = np.array(sizes, np.int32)
    if net.chance(0.3):
        stated[int(net.rng.integers(len(stated)))] = -1
    inputs = [data, net.constant(stated), net.constant(np.array(axis, np.int32))]
    outputs = _parts(net, data, axis, sizes)
    net.add(code, inputs, outputs, "SplitVOptions", {"numSplits": len(sizes)})


def _unpack(net: Network, code: str, dtype: str) -> None:
    data, shape = _data(net, dtype)
    axis = int(net.rng.integers(len(shape)))
    whole = net.shape(data)
    kept: Shape = (*whole[:axis], *whole[axis + 1 :])
    outputs = [net.output(dtype, kept, like=data) for _ in range(whole[axis])]
    net.add(code, [data], outputs, "UnpackOptions", {"num": whole[axis], "axis": axis})


MAKERS = (
    Maker(("REVERSE_V2",), EVERY, _reverse),
    Maker(("DYNAMIC_UPDATE_SLICE",), WITHOUT_UINT8, _update),
    Maker(("SLICE",), EVERY, _slice),
    Maker(("STRIDED_SLICE",), EVERY, _strided_slice),
    Maker(("SPLIT",), EVERY, _split),
    Maker(("SPLIT_V",), EVERY, _split_v),
    Maker(("UNPACK",), EVERY, _unpack),
)
