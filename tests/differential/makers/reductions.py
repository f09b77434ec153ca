"""Operators that compute one value of several."""

from __future__ import annotations

import numpy as np

from tests.differential.makers import ALL, Maker
from tests.differential.network import Network, UnfitError


def _reduce(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    axes = sorted({int(n) for n in net.rng.integers(0, len(shape), net.rng.integers(1, 4))})
    keep = net.chance(0.5)
    reduced = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    output = net.output(dtype, reduced, like=data if code.startswith("REDUCE") else "")
    stated = [axis - len(shape) if net.chance(0.2) else axis for axis in axes]
    where = net.constant(np.array(stated, np.int32))
    net.add(code, [data, where], output, "ReducerOptions", {"keepDims": keep})


def _cumsum(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    axis = int(net.rng.integers(-len(shape), len(shape)))
    options = {"exclusive": net.chance(0.5), "reverse": net.chance(0.5)}
    where = net.constant(np.array(axis if net.chance(0.5) else [axis], np.int32))
    net.add(code, [data, where], net.output(dtype, shape), "CumsumOptions", options)


def _position(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    axis = int(net.rng.integers(len(shape)))
    output = net.output(net.one_of(["int32", "int64"]), (*shape[:axis], *shape[axis + 1 :]))
    table = "ArgMaxOptions" if code == "ARG_MAX" else "ArgMinOptions"
    wide = net.dtype(output) == "int64"
    options = {"outputType": 4 if wide else 2}  # values of the schema's TensorType
    net.add(code, [data, net.constant(np.array([axis], np.int32))], output, table, options)


MAKERS = (
    Maker(("MEAN",), ALL, _reduce),
    Maker(("SUM",), ("int8", "uint8", "float32", "int32"), _reduce),
    Maker(("REDUCE_MAX", "REDUCE_MIN"), (*ALL, "int32"), _reduce),
    Maker(("REDUCE_ALL", "REDUCE_ANY"), ("bool",), _reduce),
    Maker(("REDUCE_PROD",), ("float32", "int32", "int64", "int8", "int16"), _reduce),
    Maker(("CUMSUM",), ("float32", "int32", "int64"), _cumsum),
    Maker(("ARG_MAX", "ARG_MIN"), ("int8", "uint8", "float32", "int32"), _position),
)
