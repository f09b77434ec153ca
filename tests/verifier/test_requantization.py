"""The check of cheaper requantizations finds every table that gives other outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from microgen.graph.arithmetic import high, int8, linear, linear_vector
from microgen.graph.arithmetic.terms import Rounding
from microgen.verifier.checks.requantization import _FORMS, differs

N = 12


def layer(seed: int, rounding: Rounding) -> linear.OutputChannels:
    rng = np.random.default_rng(seed)
    scales = (2.0 ** rng.uniform(-10, -3, N)).astype(np.float32).astype(np.float64)
    least = -rng.integers(0, 6_000, N)
    return linear.OutputChannels(
        scales=tuple(scales.tolist()),
        least=tuple(least.tolist()),
        most=tuple((least + rng.integers(0, 6_000, N)).tolist()),
        folded=tuple(rng.integers(-500, 500, N).tolist()),
        rounding=rounding,
        zero_point=int(rng.integers(-128, 0)),
        low=-128,
        high=int(rng.integers(100, 128)),
    )


def brute_force(of: linear.OutputChannels, found: np.ndarray) -> list[bool]:
    """Channels with a reachable sum that is requantized to something else. ``found`` has what all
    sums from the least to the greatest are requantized to."""
    sums = all_sums(of)
    is_reachable = (sums >= np.array(of.least)[:, None]) & (sums <= np.array(of.most)[:, None])
    wrong = (linear.specified(sums, of) != found) & is_reachable
    return [bool(b) for b in wrong.any(axis=1)]


def all_sums(of: linear.OutputChannels) -> np.ndarray:
    first, last = min(of.least), max(of.most)
    return np.broadcast_to(np.arange(first, last + 1), (N, last - first + 1))


def raw(of: linear.OutputChannels) -> np.ndarray:
    """What a kernel has summed."""
    return np.asarray(all_sums(of) - np.array(of.folded)[:, None])


def varied(table: np.ndarray, spread: int, rng: np.random.Generator) -> np.ndarray:
    return table + rng.integers(-spread, spread + 1, table.shape)


ROUNDINGS = [Rounding.DOUBLE, Rounding.SINGLE, Rounding.UPWARD, Rounding.FLOAT]
SPREADS = (0, 1, 40, 3000)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_finds_what_trying_all_sums_finds(rounding: Rounding) -> None:
    verdicts: set[bool] = set()
    for seed in range(12):
        of, rng = layer(seed, rounding), np.random.default_rng(seed)
        fitted = linear.fit(of)
        for spread in SPREADS:
            multipliers = np.maximum(varied(fitted.multipliers, spread, rng), 0)
            biases = varied(fitted.biases, spread, rng)
            found = linear.outputs(raw(of), multipliers[:, None], biases[:, None], of.low, of.high)
            expected = brute_force(of, found)
            assert differs(of, "linear", [multipliers, biases], {}).tolist() == expected
            verdicts |= set(expected)
    assert verdicts == {True, False}


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_finds_it_for_high_words(rounding: Rounding) -> None:
    verdicts: set[bool] = set()
    for seed in range(12):
        of, rng = layer(seed, rounding), np.random.default_rng(seed)
        fitted = high.fit(of)
        for spread in SPREADS:
            multipliers = np.maximum(varied(fitted.multipliers, spread, rng), 0)
            biases = varied(fitted.biases, 50 * spread, rng)
            sums = 256 * raw(of) + biases[:, None]
            expected = brute_force(of, high.outputs(sums, multipliers[:, None], of.low, of.high))
            tables, arguments = [multipliers, biases], {"shift": high.SHIFT}
            assert differs(of, "high", tables, arguments).tolist() == expected
            verdicts |= set(expected)
    assert verdicts == {True, False}


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_finds_it_for_vectors(rounding: Rounding) -> None:
    verdicts: set[bool] = set()
    for seed in range(12):
        of, rng = layer(seed, rounding), np.random.default_rng(seed)
        fitted = linear_vector.fit(of)
        for spread in SPREADS:
            changed = dataclasses.replace(
                fitted,
                multipliers=np.clip(varied(fitted.multipliers, 99 * spread, rng), 0, 2**31 - 1),
                biases=varied(fitted.biases, 99 * spread, rng),
            )
            expected = brute_force(of, linear_vector.outputs(raw(of), changed, of.low, of.high))
            shifts = np.array([changed.left, -changed.right])
            tables = [changed.multipliers, changed.biases, shifts]
            assert differs(of, "vector", tables, {}).tolist() == expected
            verdicts |= set(expected)
    assert verdicts == {True, False}


def test_negative_multipliers_are_wrong() -> None:
    of = layer(1, Rounding.DOUBLE)
    fitted = linear.fit(of)
    assert differs(of, "linear", [-1 - fitted.multipliers, fitted.biases], {}).all()


def test_sums_that_leave_int32_have_no_proof() -> None:
    of = layer(1, Rounding.DOUBLE)
    fitted = high.fit(of)
    biases = fitted.biases + 2**31
    with pytest.raises(ValueError, match="int32"):
        differs(of, "high", [fitted.multipliers, biases], {"shift": high.SHIFT})


@pytest.mark.parametrize("bits", [31, 32, 63])
def test_shifts_that_leave_int32_have_no_proof(bits: int) -> None:
    # All outputs are -1, which is what int64 makes of shifts by 64.
    of = dataclasses.replace(layer(1, Rounding.UPWARD), scales=(2.0**-40,) * N, zero_point=-1)
    arguments = {"output_zero": -1, "shift": high.SHIFT}
    tables = _mixed_tables(of, arguments)
    with pytest.raises(ValueError, match="before they are shifted"):
        differs(of, "mixed", [*tables[:2], np.full(N, bits)], arguments)


def _mixed_tables(of: linear.OutputChannels, arguments: Mapping[str, int]) -> list[np.ndarray]:
    """Tables of a layer of which every other channel has a mark, for sums without a weight."""
    multipliers, shifts = int8.per_channel_multipliers(np.array(of.scales))
    usual = high.fit(of) if "run" in arguments else linear.fit(of)
    is_marked = ~usual.is_exact | (np.arange(N) % 2 == 0)
    twice = 64 if of.rounding is Rounding.DOUBLE else 0
    marked = (
        multipliers.astype(np.int64) - 2**31,
        256 * np.array(of.folded),
        6 - shifts.astype(np.int64) + twice,
    )
    others = (usual.multipliers, usual.biases, np.zeros(N, np.int64))
    return [np.where(is_marked, a, b) for a, b in zip(marked, others, strict=True)]


@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.UPWARD])
@pytest.mark.parametrize("is_paired", [False, True])
def test_each_mark_that_is_changed_is_found(rounding: Rounding, is_paired: bool) -> None:
    found = 0
    for seed in range(4):
        of = layer(seed, rounding)
        arguments = {"output_zero": of.zero_point, "shift": high.SHIFT}
        arguments |= {"run": 1} if is_paired else {}
        tables = _mixed_tables(of, arguments)
        assert not differs(of, "mixed", tables, arguments).any()
        for channel in range(N):
            multipliers = tables[0].copy()
            multipliers[channel] ^= -(2**31)  # the sign bit of int32, as int64
            changed = [multipliers, *tables[1:]]
            computed = _FORMS["mixed"](raw(of), changed, arguments)
            expected = brute_force(of, np.clip(computed, of.low, of.high))
            assert differs(of, "mixed", changed, arguments).tolist() == expected
            found += expected[channel]
    assert found > 3 * N  # of 4 * N; the others are channels with few sums
