"""The C arithmetic of requantize_float.h equals its numpy twin, which computes in floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic import in_float32
from microgen.graph.arithmetic.int8 import per_channel_multipliers
from microgen.graph.ir.graph import Array
from tests.crt.arithmetic.expressions import evaluated

SCALES = 300
ROW = np.dtype([("x", "<i8"), ("multiplier", "<i4"), ("shift", "<i4")])
DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include "microgen/requantization/requantize_float.h"
struct row {int64_t x; int32_t multiplier; int32_t shift;};
int main(void)
{
    struct row a;
    while (fread(&a, sizeof a, 1, stdin) == 1) {
        const int32_t result = EXPRESSION;
        (void)fwrite(&result, sizeof result, 1, stdout);
    }
    return 0;
}
"""


def _scales(rng: np.random.Generator) -> Array:
    """float32 scales of all magnitudes: random ones, powers of two and their neighbours, 0,
    denormal ones and the largest one."""
    powers = 2.0 ** np.arange(-40, 30)
    near = np.nextafter(powers.astype(np.float32), np.float32(np.inf))
    others = [0.0, 1e-45, 1e-40, in_float32.LARGEST]
    drawn = 2.0 ** rng.uniform(-34, 29, SCALES)
    return np.concatenate([drawn, powers, near, others]).astype(np.float32)


def _sums(rng: np.random.Generator, scale: float) -> Array:
    """Sums of every magnitude below 2**47, and all around the ties of the scale."""
    halves = np.concatenate([np.arange(0, 300), rng.integers(300, 40000, 50)]) + 0.5
    with np.errstate(divide="ignore", over="ignore"):
        ties = np.minimum(halves / scale, 2.0**46).astype(np.int64)
    around = (ties[:, None] + np.arange(-2, 4)).reshape(-1)
    drawn = rng.integers(-(2**47), 2**47, 400) >> rng.integers(0, 47, 400)
    ends = [0, 2**31 - 1, -(2**31), 2**24, 2**24 + 1, 2**24 + 3, 2**25 + 2, 2**47 - 1]
    return np.concatenate([around, -around, drawn, ends])


def test_c_equals_float32(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scales = _scales(rng)
    multipliers, shifts = per_channel_multipliers(scales.astype(np.float64))
    parts, expected = [], []
    for scale, multiplier, shift in zip(scales, multipliers, shifts, strict=True):
        sums = _sums(rng, float(scale))
        rows = np.zeros(len(sums), ROW)
        rows["x"], rows["multiplier"], rows["shift"] = sums, multiplier, shift
        parts.append(rows)
        # Scales below 2**-32 make 0 of all sums of int32, so the tables have 0 for them.
        is_seen = (np.abs(sums) <= 2**31) | (multiplier > 0)
        expected.append(np.where(is_seen, in_float32.scaled(sums, scale), 0))
    rows, wanted = np.concatenate(parts), np.concatenate(expected)
    found = evaluated(DRIVER, "mg_requantize_float(a.x, a.multiplier, a.shift)", rows, tmp_path)
    wrong = np.flatnonzero(found != wanted)
    assert not wrong.size, f"{rows[wrong[0]]}: {found[wrong[0]]} in C, {wanted[wrong[0]]} in floats"


@pytest.mark.parametrize("first_line", ["", "#define MG_NO_FPU"])
def test_an_fpu_and_integers_give_the_same(first_line: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    scales = np.array([scale for scale in _scales(rng) if scale >= 2.0**-32], np.float32)
    parts, expected = [], []
    for scale in scales:
        sums = _sums(rng, float(scale)).clip(-(2**31), 2**31 - 1)
        sums = sums[np.abs(sums * float(scale)) < 2**22]  # others may saturate
        rows = np.zeros(len(sums), ROW)
        rows["x"], rows["multiplier"] = sums, scale.view(np.int32)
        parts.append(rows)
        expected.append(in_float32.scaled(sums, scale))
    driver = DRIVER.replace("requantize_float.h", "scaling_fpu.h")
    expression = "mg_scaled_by_fpu((int32_t)a.x, a.multiplier)"
    found = evaluated(f"{first_line}\n{driver}", expression, np.concatenate(parts), tmp_path)
    np.testing.assert_array_equal(found, np.concatenate(expected))
