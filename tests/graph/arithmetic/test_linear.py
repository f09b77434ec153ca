"""The linear requantization equals the specified one wherever ``fit`` says so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.graph.arithmetic import linear
from microgen.graph.arithmetic.terms import Rounding

ROUNDINGS = (
    Rounding.DOUBLE,
    Rounding.SINGLE,
    Rounding.UPWARD,
    Rounding.NEAREST,
    Rounding.FLOAT,
)


def channels(rng: np.random.Generator, rounding: Rounding, *, relu: bool) -> linear.OutputChannels:
    """24 channels with scales from 1/2,000 to 1/2 and up to 20,000 reachable sums each."""
    n = 24
    least = -rng.integers(0, 10_000, n)
    zero = -128 if relu else int(rng.integers(-128, 128))
    scales = (2.0 ** rng.uniform(-11, -1, n)).astype(np.float32).astype(np.float64)
    return linear.OutputChannels(
        scales=tuple(scales.tolist()),
        least=tuple(least.tolist()),
        most=tuple((least + rng.integers(0, 10_000, n)).tolist()),
        folded=tuple((rng.uniform(-1000, 1000, n) / scales).astype(np.int64).tolist()),
        rounding=rounding,
        zero_point=zero,
        low=-128 if relu else int(rng.integers(-128, zero + 1)),
        high=127,
    )


def differing(layer: linear.OutputChannels, found: linear.Linear, channel: int) -> int:
    """How many of the reachable sums of a channel are requantized to something else."""
    sums = np.arange(layer.least[channel], layer.most[channel] + 1)
    one = dataclasses.replace(layer, scales=(layer.scales[channel],))
    wanted = linear.specified(sums[None, :], one)[0]
    # What the kernel sums is without what is folded.
    computed = linear.outputs(
        sums - layer.folded[channel],
        found.multipliers[channel],
        found.biases[channel],
        layer.low,
        layer.high,
    )
    return int((wanted != computed).sum())


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("relu", [True, False])
def test_equals_the_specified_one_for_all_sums(rounding: Rounding, relu: bool) -> None:
    for seed in range(6):
        layer = channels(np.random.default_rng(seed), rounding, relu=relu)
        found = linear.fit(layer)
        exact = np.flatnonzero(found.is_exact)
        assert len(exact) or rounding is Rounding.DOUBLE
        assert not any(differing(layer, found, int(channel)) for channel in exact)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_finds_one_for_most_channels_that_are_cut_at_zero(rounding: Rounding) -> None:
    layers = [channels(np.random.default_rng(seed), rounding, relu=True) for seed in range(6)]
    usable = np.concatenate([np.array(layer.scales) < 1 / 8 for layer in layers])
    exact = np.concatenate([linear.fit(layer).is_exact for layer in layers])
    assert exact[usable].mean() > 0.97
    constant = np.concatenate([np.array(o.least) == np.array(o.most) for o in layers])
    assert not exact[~usable & ~constant].all()  # their multipliers do not fit int32


def test_twice_rounded_outputs_of_both_signs_have_a_step_at_zero() -> None:
    layer = channels(np.random.default_rng(1), Rounding.DOUBLE, relu=False)
    wide = dataclasses.replace(
        layer,
        scales=(0.00371,) * 24,
        least=(-30_000,) * 24,
        most=(30_000,) * 24,
        folded=(0,) * 24,
        zero_point=0,
        low=-128,
    )
    assert not linear.fit(wide).is_exact.any()
    once = dataclasses.replace(wide, rounding=Rounding.UPWARD)
    assert linear.fit(once).is_exact.all()


def single(least: int, most: int, scale: float = 0.01, folded: int = 0) -> linear.OutputChannels:
    return linear.OutputChannels(
        (scale,), (least,), (most,), (folded,), Rounding.DOUBLE, -128, -128, 127
    )


@pytest.mark.parametrize("bias", [0, 5_000, 2**30, 2**31 - 1, -(2**31)])
def test_a_channel_without_weights_is_constant(bias: int) -> None:
    layer = single(bias, bias, 1e-9 if abs(bias) > 2**20 else 0.01, folded=bias)
    found = linear.fit(layer)
    assert found.is_exact.all()
    assert differing(layer, found, 0) == 0


@pytest.mark.parametrize(
    "layer",
    [
        single(-(2**30), 100),  # products may leave int64
        single(-100, 2**30),
        single(-1000, 1000, scale=0.125),  # the multiplier leaves int32
        single(-1000, 1000, scale=3.0),
        dataclasses.replace(single(-1000, 1000), low=5, high=5),
    ],
)
def test_what_it_does_not_take(layer: linear.OutputChannels) -> None:
    assert not linear.fit(layer).is_exact.any()


def test_a_bias_that_leaves_int32_is_not_exact() -> None:
    assert linear.fit(single(-1000, 1000, folded=0)).is_exact.all()
    assert not linear.fit(single(-1000, 1000, folded=2**20)).is_exact.any()


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_equal_channels_have_one_multiplier(rounding: Rounding) -> None:
    layer = channels(np.random.default_rng(1), rounding, relu=True)
    layer = dataclasses.replace(layer, scales=(float(np.float32(0.00417)),) * len(layer.scales))
    found = linear.fit_equal(layer)
    assert found.is_exact.all()
    assert len(set(found.multipliers.tolist())) == 1
    assert not any(differing(layer, found, channel) for channel in range(len(layer.least)))


def test_equal_channels_with_too_large_sums_are_not_exact() -> None:
    layer = channels(np.random.default_rng(1), Rounding.SINGLE, relu=True)
    wide = dataclasses.replace(
        layer, scales=layer.scales[:1] * len(layer.scales), most=(2**30,) * len(layer.scales)
    )
    assert not linear.fit_equal(wide).is_exact.any()
