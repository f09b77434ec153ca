"""Random networks of floats."""

from __future__ import annotations

import math

from tests.frontends.onnx.graphs import element_layers, float_layers
from tests.frontends.onnx.graphs.case import Case, case
from tests.frontends.onnx.graphs.float_layers import Floats, Net

_OPSET = 20
_MOST_LAYERS = 8
_MOST_ELEMENTS = 1000  # of a tensor that further layers read
_SIZES = (1, 2, 3, 4, 5, 6, 8)
_RANKS = (1, 2, 3, 3, 4, 4, 4, 4, 5)
_LAYERS = (*float_layers.LAYERS, *element_layers.LAYERS)


def generate(seed: int) -> Case:
    """The network of a seed."""
    n = Net(seed)
    shape = tuple(map(int, n.random.choice(_SIZES, n.one_of(_RANKS))))
    shape = (1, *shape[1:]) if n.chance(0.7) else shape
    data = Floats(n.net.input(shape), shape)
    layers, made = int(n.random.integers(1, _MOST_LAYERS + 1)), 0
    for k in range(4 * layers):
        layer = _LAYERS[(seed + k) % len(_LAYERS)] if not made else n.one_of(_LAYERS)
        found = layer(n, data)
        if found is None or math.prod(found.shape) > _MOST_ELEMENTS:
            continue
        data, made = found, made + 1
        if made == layers:
            break
    if not made:
        n.add("Neg", [data.name], data.shape)
    return case(seed, n.net, _OPSET)
