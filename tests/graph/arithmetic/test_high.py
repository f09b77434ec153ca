"""The requantization by one product equals the specified one wherever ``fit`` says so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.graph.arithmetic import high, linear
from microgen.graph.arithmetic.terms import Rounding
from tests.graph.arithmetic.test_linear import ROUNDINGS, channels

SHIFTS = (high.SHIFT, high.WIDE_SHIFT)


def differing(layer: linear.OutputChannels, found: high.High, channel: int, shift: int) -> int:
    """How many of the reachable sums of a channel are requantized to something else."""
    sums = np.arange(layer.least[channel], layer.most[channel] + 1)
    one = dataclasses.replace(layer, scales=(layer.scales[channel],))
    wanted = linear.specified(sums[None, :], one)[0]
    computed = (sums - layer.folded[channel]) * high.UNIT + found.biases[channel]
    multiplier = found.multipliers[channel]
    return int((wanted != high.outputs(computed, multiplier, layer.low, layer.high, shift)).sum())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("shift", SHIFTS)
def test_equals_the_specified_one_for_all_sums(rounding: Rounding, relu: bool, shift: int) -> None:
    for seed in range(3):
        layer = channels(np.random.default_rng(seed), rounding, relu=relu)
        found = high.fit(layer, shift)
        exact = np.flatnonzero(found.is_exact)
        assert len(exact) or rounding is Rounding.DOUBLE
        assert not any(differing(layer, found, int(channel), shift) for channel in exact)


def test_equal_channels_have_one_multiplier() -> None:
    layer = channels(np.random.default_rng(1), Rounding.SINGLE, relu=True)
    layer = dataclasses.replace(layer, scales=(0.004,) * len(layer.scales))
    found = high.fit_equal(layer, high.WIDE_SHIFT)
    assert found.is_exact.all()
    assert len(set(found.multipliers.tolist())) == 1
    assert not any(
        differing(layer, found, channel, high.WIDE_SHIFT) for channel in range(len(layer.least))
    )


@pytest.mark.parametrize("shift", SHIFTS)
def test_no_other_bias_is_exact_for_a_channel_without_one(shift: int) -> None:
    """Biases that cannot be exact are skipped, which has to leave the same channels."""
    for seed, rounding in enumerate(ROUNDINGS):
        layer = channels(np.random.default_rng(seed), rounding, relu=bool(seed % 2))
        layer = dataclasses.replace(layer, scales=tuple(4 * scale for scale in layer.scales))
        conditions, found = high._Conditions.of(layer, shift), high.fit(layer, shift)
        known = linear.fit(layer)
        factor = np.maximum(known.multipliers, 1)
        centre = np.rint(known.biases * (high.UNIT * 2.0**linear.BIAS_SHIFT) / factor)
        is_possible = known.is_exact & ~found.is_exact
        for distance in range(-500, 500, 3):
            biases = centre.astype(np.int64) + distance
            is_exact = conditions.are_exact(conditions.multipliers(biases), biases)
            assert not (is_exact & is_possible).any()
