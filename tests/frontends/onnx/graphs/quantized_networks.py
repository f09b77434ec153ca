"""Random quantized networks."""

from __future__ import annotations

import math

from tests.frontends.onnx.graphs.case import Case, case
from tests.frontends.onnx.graphs.quantized_layers import LAYERS, Floats, Quantized, Stored, pooled

_OPSET = 21  # the first with conversions of 16 bits
_MOST_LAYERS = 6
_MOST_ELEMENTS = 1500  # of a tensor that further layers read
_SIZES = (1, 2, 3, 4, 5, 7, 8)


def generate(seed: int) -> Case:
    """The network of a seed. One of four has activations of 16 bits, too."""
    q = Quantized(seed, wide=seed % 4 == 3)
    data = _input(q)
    first, layers = len(q.net.nodes), q.random.integers(1, _MOST_LAYERS + 1)
    for k in range(layers * 3):
        layer = LAYERS[(seed + k) % len(LAYERS)] if k == 0 else q.one_of(LAYERS)
        data = layer(q, data) or data
        if math.prod(data.shape) > _MOST_ELEMENTS:
            data = pooled(q, data) or data
        if len(q.net.outputs) > layers or math.prod(data.shape) > _MOST_ELEMENTS:
            break
    assert len(q.net.nodes) > first
    return case(seed, q.net, _OPSET)


def _input(q: Quantized) -> Stored:
    """An image or a matrix, in floats or as stored integers."""
    shape = tuple(map(int, q.random.choice(_SIZES, 4)))
    shape = (1, *shape[1:]) if q.chance(0.8) else shape
    shape = shape if q.chance(0.8) else shape[:2]
    dtype = q.one_of(q.dtypes)
    if q.chance(0.5):
        return q.quantized(Floats(q.net.input(shape), shape), dtype)
    return Stored(q.net.input(shape, dtype), q.scales(dtype), dtype, shape)
