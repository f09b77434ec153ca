"""Multipliers that round ties upwards like the specified ones round them away from zero."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.base.errors import ProjectError
from microgen.graph.arithmetic import int8
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import transforms

_CHANNELS = 6
_SUMS = np.arange(-(2**14), 2**14)


def _made(scales: Array, weight: Array) -> Array:
    own = {"input_scale": 1.0, "output_scale": 1.0, "rule": "conv", "channels": len(scales)}
    given: dict[str, float | int | str] = {**own, "axis": 0, "input_zero": 0}
    return transforms.apply("upward_multiplier", [scales.astype(np.float32), weight], given)


def _scales(rng: np.random.Generator) -> Array:
    """Usual scales, and those with which many sums are ties."""
    usual = rng.uniform(2.0**-12, 0.49, _CHANNELS - 3)
    few_bits = rng.integers(1, 16, 3) * 2.0 ** -rng.integers(6, 14, 3)
    return np.concatenate([usual, few_bits]).astype(np.float32)


@pytest.mark.parametrize("seed", range(20))
def test_results_equal_those_of_the_specified_multipliers(seed: int) -> None:
    scales = _scales(np.random.default_rng(seed))
    weight = np.full((_CHANNELS, 1), 127, np.int8)  # sums are below 2**14
    specified, shifts = int8.per_channel_multipliers(scales.astype(np.float64))
    made = _made(scales, weight)
    for own, usual, shift in zip(made, specified, shifts, strict=True):
        upward, nearest = (
            int8.multiply_by_quantized_multiplier(_SUMS, int(m), int(shift), rounding)
            for m, rounding in ((own, Rounding.UPWARD), (usual, Rounding.NEAREST))
        )
        np.testing.assert_array_equal(upward, nearest)


def test_sums_at_ties_that_neither_multiplier_rounds_are_refused() -> None:
    # The multiplier is 2**30 + 2**15, so 2**15 is a sum that it does not move past a tie.
    scales = np.array([2.0**-9 * (1 + 2.0**-15)], np.float32)
    with pytest.raises(ProjectError, match="a sum may be at a tie"):
        _made(scales, np.full((1, 2**10), 127, np.int8))
    assert _made(scales, np.full((1, 2), 127, np.int8)) == 2**30 + 2**15
