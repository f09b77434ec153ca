"""The check of factors of 64 bits finds every factor that gives other outputs for some sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from microgen.kernels import transforms
from microgen.verifier.factors import differs

N = 6


def scales(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [(2.0 ** rng.uniform(-14, -2, N)).astype(np.float32)]


def arguments(rounding: str) -> dict[str, Any]:
    own = {"input_scale": 1.0, "output_scale": 1.0, "rule": "conv", "channels": N}
    return {**own, "rounding": rounding}


def moved(table: np.ndarray, by: int) -> np.ndarray:
    """The table, as the verifier reads it, of factors that are larger by ``by``."""
    low, high = table.astype(np.int64).T
    factors = low + high * 2**32 + by
    low = factors.astype(np.int32).astype(np.int64)
    return np.stack([low, (factors - low) >> 32], axis=1)


@pytest.mark.parametrize("rounding", ["real", "reduced"])
@pytest.mark.parametrize("seed", range(4))
def test_factors_that_generation_found_are_right(rounding: str, seed: int) -> None:
    table = transforms.apply("wide_factors", scales(seed), arguments(rounding))
    assert not differs(table.astype(np.int64), scales(seed), arguments(rounding)).any()


@pytest.mark.parametrize("rounding", ["real", "reduced"])
@pytest.mark.parametrize("by", [2**40, -(2**40)])
def test_other_factors_are_found(rounding: str, by: int) -> None:
    table = transforms.apply("wide_factors", scales(5), arguments(rounding))
    assert differs(moved(table, by), scales(5), arguments(rounding)).all()


def test_one_wrong_factor_is_found_among_others() -> None:
    table = transforms.apply("wide_factors", scales(5), arguments("real")).astype(np.int64)
    table[3] = moved(table, 2**44)[3]
    found = differs(table, scales(5), arguments("real"))
    assert found.tolist() == [i == 3 for i in range(N)]


def test_a_tie_that_is_rounded_upwards_is_found() -> None:
    quarter = [np.full(N, 0.25, np.float32)]
    exact = np.tile(np.array([[0, 2**30]], np.int64), (N, 1))
    assert differs(exact, quarter, arguments("real")).all()
    assert not differs(exact, quarter, arguments("reduced")).any()
    assert not differs(moved(exact, 1), quarter, arguments("real")).any()
