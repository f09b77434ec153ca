"""AVERAGE_POOL_2D, L2_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from tests.differential.makers import ALL, Maker
from tests.differential.network import Network
from tests.differential.windows import random_window


def _pool(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype, 4)
    window = random_window(net, data, dilates=False)
    batches, _, _, depth = net.shape(data)
    height, width = window.kernel
    options = {**window.options, "filterHeight": height, "filterWidth": width}
    output = net.output(dtype, (batches, *window.output, depth), like=data)
    net.add(code, [data], output, "Pool2DOptions", options)


MAKERS = (
    Maker(("AVERAGE_POOL_2D", "MAX_POOL_2D"), ALL, _pool),
    Maker(("L2_POOL_2D",), ("float32",), _pool),
)
