"""EMBEDDING_LOOKUP and GATHER_ND."""

from __future__ import annotations

import numpy as np

from tests.differential import stock
from tests.differential.makers import EVERY, WITHOUT_UINT8, Maker
from tests.differential.network import Network, Shape, UnfitError


def _indices(net: Network, shape: Shape, limit: int) -> str:
    """Indices below a limit: constants, or computed ones that happen to fit."""
    if net.chance(0.5):
        return net.constant(net.rng.integers(0, limit, shape).astype(np.int32))
    return net.pick(
        "int32",
        fits=lambda name: net.least(name) >= 0 and net.greatest(name) < limit,
        shape=shape,
        low=0,
        high=limit - 1,
    )


def _embedding_lookup(net: Network, code: str, dtype: str) -> None:
    """Rows of any dtype, or rows of symmetric int8 that become float32."""
    if dtype == "hybrid":
        shape = (int(net.rng.integers(1, 9)), int(net.rng.integers(1, 9)))
        data = net.constant(stock.sample(net.rng, "int8", shape), (0.03, 0))
    else:
        data = net.pick(dtype, fits=lambda name: _has_rows(net, name))
    if not _has_rows(net, data):
        raise UnfitError("a vector")
    ids = _indices(net, (int(net.rng.integers(1, 6)),), net.shape(data)[0])
    result = (net.shape(ids)[0], *net.shape(data)[1:])
    if dtype == "hybrid":
        net.pick("int32")  # the network has an input in any case
        net.add(code, [ids, data], net.output("float32", result))
    else:
        net.add(code, [ids, data], net.output(dtype, result, like=data))


def _has_rows(net: Network, name: str) -> bool:
    return len(net.shape(name)) > 1


def _gather_nd(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, fits=lambda name: len(net.shape(name)) > 0)
    shape = net.shape(data)
    if not shape:
        raise UnfitError("a scalar")
    depth = int(net.rng.integers(1, len(shape) + 1))
    own = tuple(int(n) for n in net.rng.integers(1, 4, int(net.rng.integers(0, 3))))
    indices = _indices(net, (*own, depth), min(shape[:depth]))
    output = net.output(dtype, (*own, *shape[depth:]), like=data)
    net.add(code, [data, indices], output, "GatherNdOptions")


MAKERS = (
    Maker(("EMBEDDING_LOOKUP",), (*WITHOUT_UINT8, "hybrid"), _embedding_lookup),
    Maker(("GATHER_ND",), EVERY, _gather_nd),
)
