"""FULLY_CONNECTED whose weights have a zero point other than 0, as LiteRT computes it."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import UnsupportedError
from tests.frontends.tflite.test_degenerate import equals_litert
from tests.frontends.tweaked import Network, dense, refusal
from tests.kernels.conformance.litert_oracle import needs_litert


def offset(zero_point: int, network: Network, low: int = -128, high: int = 127) -> Network:
    """The network with random weights from ``low`` to ``high``, among them both, and that zero
    point."""
    rng = np.random.default_rng(zero_point + 200)
    shape = next(tensor.shape for tensor in network.tensors if tensor.name == "w")
    values = rng.integers(low, high + 1, shape)
    values.flat[:2] = low, high
    network = network.with_tensor("w", data=values, zero_point=(zero_point,), scale=(0.02,))
    return network.with_tensor("x", scale=(0.1,)).with_tensor("y", scale=(0.03,))


SHAPES = [dense(2, 4), dense(1, 2, 2, 2), dense(1, 2, 4, output=(1, 2, 3), keepNumDims=True)]


@needs_litert
@pytest.mark.parametrize("zero_point", [-128, -127, -1, 1, 77, 127])
@pytest.mark.parametrize("network", SHAPES)
def test_sums_are_litert_s(network: Network, zero_point: int) -> None:
    for seed in range(4):
        equals_litert(offset(zero_point, network), seed)
    equals_litert(offset(zero_point, network.with_options(fusedActivationFunction=1)))


def test_only_int8_weights_with_one_scale_have_a_zero_point() -> None:
    each = dense(2, 4).with_tensor("w", scale=(0.1, 0.2, 0.3), zero_point=(0, 1, 0))
    assert 'has weights "w" with a zero point other than 0' in refusal(each, UnsupportedError)
    small = dense(2, 4).with_tensor("w", dtype="int4", data=bytes(6), zero_point=(1,))
    assert 'has weights "w" with a zero point other than 0' in refusal(small, UnsupportedError)
