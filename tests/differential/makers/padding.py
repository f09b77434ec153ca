"""PAD, PADV2 and MIRROR_PAD."""

from __future__ import annotations

import numpy as np

from tests.differential.makers import EVERY, Maker
from tests.differential.network import Network, UnfitError


def _pad(net: Network, code: str, dtype: str) -> None:
    data = net.pick(dtype)
    shape = np.array(net.shape(data))
    if not len(shape):
        raise UnfitError("a scalar")
    amounts = net.rng.integers(0, 3, (len(shape), 2)) * (net.rng.random((len(shape), 1)) < 0.7)
    if len(shape) == 4 and net.chance(0.5):
        amounts[[0, 3]] = 0  # pads height and width only, as before convolutions
    is_symmetric = net.chance(0.5)
    if code == "MIRROR_PAD":
        amounts = np.minimum(amounts, shape[:, None] - (not is_symmetric))
    padded = tuple(int(n) for n in shape + amounts.sum(axis=1))
    inputs = [data, net.constant(amounts.astype(np.int32))]
    inputs += [net.constant_like(data, (1,))] if code == "PADV2" else []
    table = {"PAD": "PadOptions", "PADV2": "PadV2Options"}.get(code, "MirrorPadOptions")
    options = {"mode": int(is_symmetric)} if code == "MIRROR_PAD" else {}
    net.add(code, inputs, net.output(dtype, padded, like=data), table, options)


MAKERS = (Maker(("PAD", "PADV2", "MIRROR_PAD"), EVERY, _pad),)
