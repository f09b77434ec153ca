"""The layout of weights for loops that compute four output channels at a time.

A kind of transform: ``interleave_4``. Its source is a weight of int8, whose first axis is that of
output channels, and it has no arguments. It makes int8 [weights]: for each four channels, the
weights of all products, [products][4]; then those of the channels that are left, [products] each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.kernels.constant import Layout
from microgen.kernels.requantization import transforms

LAYOUT = Layout("interleave_4")


def interleaved(weight: Array) -> Array:
    """The weight in this layout, int8 [weights]."""
    rows = weight.reshape(len(weight), -1)
    whole = len(rows) - len(rows) % 4
    blocks = rows[:whole].reshape(-1, 4, rows.shape[1]).transpose(0, 2, 1)
    return np.concatenate([blocks.ravel(), rows[whole:].ravel()])


def _interleave_4(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    (weight,) = sources
    if arguments:
        raise TypeError("interleave_4 takes no arguments")
    return interleaved(weight)


TRANSFORMS: Mapping[str, transforms.Function] = {"interleave_4": _interleave_4}
