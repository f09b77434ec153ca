"""GATHER, and the operators that resize images."""

from __future__ import annotations

import numpy as np

from tests.differential.makers import ALL, EVERY, Maker
from tests.differential.network import Network, UnfitError
from tests.support.tflite_builder import OptionValue

_HOW: list[dict[str, OptionValue]] = [{}, {"alignCorners": True}, {"halfPixelCenters": True}]


def _resize(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, 4)
    batches, _, _, depth = net.shape(data)
    height, width = (int(n) for n in net.rng.integers(1, 9, 2))
    tables = {"RESIZE_BILINEAR": "ResizeBilinearOptions"}
    output = net.output(dtype, (batches, height, width, depth), like=data)
    size = net.constant(np.array([height, width], np.int32))
    table = tables.get(code, "ResizeNearestNeighborOptions")
    net.add(code, [data, size], output, table, net.one_of(_HOW))


def _gather(net: Network, code: str, dtype: str) -> None:
    """A GATHER whose indices are constants, or computed ones that happen to fit."""
    data = net.pick(dtype)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    axis = int(net.rng.integers(len(shape)))
    batch_dims = int(net.rng.integers(axis + 1)) if net.chance(0.3) else 0
    own = tuple(int(n) for n in net.rng.integers(1, 4, net.rng.integers(0, 3)))
    wanted, size = (*shape[:batch_dims], *own), shape[axis]
    if net.chance(0.5):
        indices = net.pick(
            net.one_of(["int32", "int64"]),
            fits=lambda name: net.least(name) >= 0 and net.greatest(name) < size,
            shape=wanted,
            low=0,
            high=size - 1,
        )
    else:
        indices = net.constant(np.asarray(net.rng.integers(0, size, wanted), np.int32))
    result = (*shape[:axis], *own, *shape[axis + 1 :])
    options = {"axis": axis, "batchDims": batch_dims}
    net.add(code, [data, indices], net.output(dtype, result, like=data), "GatherOptions", options)


MAKERS = (
    Maker(("RESIZE_NEAREST_NEIGHBOR",), EVERY, _resize),
    Maker(("RESIZE_BILINEAR",), ALL, _resize),
    Maker(("GATHER",), EVERY, _gather),
)
