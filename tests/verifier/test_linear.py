"""The check of linear requantizations finds every table that gives other outputs."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.arithmetic import linear
from microgen.arithmetic.terms import Rounding
from microgen.verifier.linear import differs

N = 12


def layer(seed: int, rounding: Rounding) -> linear.Channels:
    rng = np.random.default_rng(seed)
    scales = (2.0 ** rng.uniform(-10, -3, N)).astype(np.float32).astype(np.float64)
    least = -rng.integers(0, 6_000, N)
    return linear.Channels(
        scales=tuple(scales.tolist()),
        least=tuple(least.tolist()),
        most=tuple((least + rng.integers(0, 6_000, N)).tolist()),
        folded=tuple(rng.integers(-500, 500, N).tolist()),
        rounding=rounding,
        zero_point=int(rng.integers(-128, 0)),
        low=-128,
        high=int(rng.integers(100, 128)),
    )


def brute_force(of: linear.Channels, multipliers: np.ndarray, offsets: np.ndarray) -> list[bool]:
    """Channels with a sum that is requantized to something else, by trying all of them."""
    first, last = min(of.least), max(of.most)
    sums = np.broadcast_to(np.arange(first, last + 1), (N, last - first + 1))
    wanted = linear.specified(sums, of)
    raw = sums - np.array(of.folded)[:, None]
    found = linear.outputs(raw, multipliers[:, None], offsets[:, None], of.low, of.high)
    is_reachable = (sums >= np.array(of.least)[:, None]) & (sums <= np.array(of.most)[:, None])
    return [bool(b) for b in ((wanted != found) & is_reachable).any(axis=1)]


@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.SINGLE, Rounding.UPWARD])
def test_finds_what_trying_all_sums_finds(rounding: Rounding) -> None:
    verdicts: set[bool] = set()
    for seed in range(12):
        of, rng = layer(seed, rounding), np.random.default_rng(seed)
        fitted = linear.fit(of)
        for spread in (0, 1, 40, 3000):
            multipliers = np.maximum(fitted.multipliers + rng.integers(-spread, spread + 1, N), 0)
            offsets = fitted.offsets + rng.integers(-spread, spread + 1, N)
            expected = brute_force(of, multipliers, offsets)
            assert differs(of, multipliers, offsets).tolist() == expected
            verdicts |= set(expected)
    assert verdicts == {True, False}


def test_negative_multipliers_are_wrong() -> None:
    of = layer(1, Rounding.DOUBLE)
    fitted = linear.fit(of)
    assert differs(of, -1 - fitted.multipliers, fitted.offsets).all()
