"""The linear requantization of vectors equals the specified one wherever ``fit`` says so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.graph.arithmetic import linear, linear_vector
from microgen.graph.arithmetic.terms import Rounding

ROUNDINGS = (
    Rounding.DOUBLE,
    Rounding.NEAREST,
    Rounding.UPWARD,
    Rounding.SINGLE,
    Rounding.FLOAT,
)


def _channels(seed: int, rounding: Rounding, low: int = -128) -> linear.OutputChannels:
    """24 channels with sums that reach beyond the outputs' limits."""
    rng = np.random.default_rng(seed)
    scales = 2.0 ** rng.uniform(-10, -5, 24)
    reach = (300 / scales).astype(np.int64)
    return linear.OutputChannels(
        scales=tuple(scales.tolist()),
        least=tuple((-reach).tolist()),
        most=tuple(reach.tolist()),
        folded=tuple(rng.integers(-9000, 9000, 24).tolist()),
        rounding=rounding,
        zero_point=int(rng.integers(-128, 128)) if low == -128 else low,
        low=low,
        high=127,
    )


def _differing(layer: linear.OutputChannels, found: linear_vector.LinearVector) -> int:
    """How many sums, of all that the exact channels can reach, have another output."""
    count = 0
    for c in np.flatnonzero(found.is_exact):
        one = dataclasses.replace(
            layer,
            **{name: (getattr(layer, name)[c],) for name in ("scales", "least", "most", "folded")},
        )
        sums = np.arange(one.least[0], one.most[0] + 1)[None, :]
        part = dataclasses.replace(
            found, multipliers=found.multipliers[[c]], biases=found.biases[[c]]
        )
        computed = linear_vector.outputs(sums - one.folded[0], part, one.low, one.high)
        count += int((computed != linear.specified(sums, one)).sum())
    return count


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("low", [-128, 5])
def test_exact_channels_are_exact_for_all_sums(rounding: Rounding, low: int) -> None:
    for seed in range(3):
        layer = _channels(seed, rounding, low)
        assert _differing(layer, linear_vector.fit(layer)) == 0


@pytest.mark.parametrize("rounding", [Rounding.NEAREST, Rounding.UPWARD, Rounding.SINGLE])
def test_finds_one_for_most_channels_that_are_rounded_once(rounding: Rounding) -> None:
    exact = [linear_vector.fit(_channels(seed, rounding)).is_exact for seed in range(6)]
    assert np.concatenate(exact).mean() > 0.9


def test_a_changed_bias_is_not_exact() -> None:
    layer = _channels(1, Rounding.UPWARD)
    found = linear_vector.fit(layer)
    assert found.is_exact.any()
    changed = dataclasses.replace(found, biases=found.biases + (2 << found.left))
    assert _differing(layer, changed) > 0


@pytest.mark.parametrize("bias", [0, 2**30, 2**31 - 1, -(2**31)])
def test_a_channel_without_weights_is_exact_unless_its_bias_saturates(bias: int) -> None:
    layer = linear.OutputChannels(
        (1e-9, 0.01), (bias, -5000), (bias, 5000), (bias, 0), Rounding.UPWARD, 0, -128, 127
    )
    found = linear_vector.fit(layer)
    assert found.is_exact[0] == (bias == 0)
    assert _differing(layer, found) == 0


@pytest.mark.parametrize(
    "layer",
    [
        dataclasses.replace(_channels(1, Rounding.UPWARD), low=5, high=5),
        linear.OutputChannels((0.0,), (-9,), (9,), (0,), Rounding.UPWARD, 0, -128, 127),
        # Sums at the thresholds leave int32 without any bits for the fraction.
        linear.OutputChannels(
            (2.0**-25,), (-(2**30),), (2**30,), (2**31 - 1,), Rounding.UPWARD, 0, -128, 127
        ),
    ],
)
def test_what_it_does_not_take(layer: linear.OutputChannels) -> None:
    assert not linear_vector.fit(layer).is_exact.any()
