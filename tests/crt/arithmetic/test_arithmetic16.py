"""The C arithmetic of requantize_s16.h, compared with its numpy twin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.arithmetic import int16
from microgen.graph.arithmetic.int8 import multiply_by_quantized_multiplier
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array
from tests.crt.arithmetic.expressions import evaluated

COUNT = 20000
ROW = np.dtype(
    [
        *(("x", "<i8"), ("multiplier", "<i4"), ("shift", "<i4")),
        *(("scale", "<f8"), ("significand", "<i8"), ("right", "<i8")),
        *(("low", "<i4"), ("high", "<i4")),
    ]
)

DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include "microgen/dense/dense_factored_s16.h"
#include "microgen/requantization/requantize_s16.h"
struct row {
    int64_t x; int32_t multiplier; int32_t shift; double scale; int64_t significand; int64_t right;
    int32_t low; int32_t high;
};
static inline int32_t factored(const struct row *a)
{
    const int32_t factor[2] = {a->low, a->high};
    const mg_factors_s16 factors = {0, factor, 0, INT16_MIN, INT16_MAX};
    return mg_factored_s16(&factors, 0, (int32_t)a->x);
}
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


def _rows(seed: int) -> Array:
    """Rows of a sum, a multiplier, a shift, and a real scale that keeps the result within int32.

    Sums have every magnitude below 2**47; the ends and powers of two are among them.
    """
    rng = np.random.default_rng(seed)
    rows = np.zeros(COUNT, ROW)
    limit = int16.SUM_LIMIT
    rows["x"] = rng.integers(-limit, limit, COUNT, endpoint=True) >> rng.integers(0, 47, COUNT)
    near = np.array([s * (1 << k) + d for k in range(47) for s in (1, -1) for d in (-1, 0)])
    rows["x"][: near.size + 2] = np.r_[near, -limit, limit]
    rows["x"] = rng.permuted(rows["x"])
    rows["multiplier"] = rng.integers(1 << 30, 1 << 31, COUNT)
    rows["multiplier"][:4] = 0, 0x7FFEFFFF, 0x7FFF0000, 0x7FFFFFFF
    rows["shift"] = rng.integers(-31, 14, COUNT, endpoint=True)
    results = rng.uniform(-(2.0**31) + 1, 2.0**31 - 1, COUNT) * 2.0 ** -rng.integers(0, 40, COUNT)
    halves = np.where(rng.random(COUNT) < 0.3, np.floor(results) + 0.5, results)
    rows["scale"] = np.abs(halves / np.where(rows["x"] == 0, 1, rows["x"]))
    rows["scale"][:4] = 0.0, 2.0**-300, 2.0**-74, 2.0**-47
    rows["significand"], rows["right"] = int16.real_parts(rows["scale"])
    rows["low"] = rng.integers(-(2**31), 2**31, COUNT)
    rows["high"] = rng.integers(0, 2**31, COUNT) >> rng.integers(0, 31, COUNT)
    rows["low"][:4], rows["high"][:4] = (-(2**31), 2**31 - 1, -1, 0), (2**31 - 1, 2**31 - 1, 1, 0)
    return rows


def _reduced(rows: Array) -> Array:
    return int16.multiply_reduced(rows["x"], rows["multiplier"], rows["shift"])


def _double(rows: Array) -> Array:
    narrow = rows["x"].astype(np.int32)
    return multiply_by_quantized_multiplier(
        narrow, rows["multiplier"], rows["shift"], Rounding.DOUBLE
    )


def _real(rows: Array) -> Array:
    return int16.multiply_real(rows["x"], rows["scale"])


def _factored(rows: Array) -> Array:
    """(sum * factor + 2**63) / 2**64, rounded down, in Python's integers."""
    sums = rows["x"].astype(np.int32).astype(object)
    factors = rows["low"].astype(object) + rows["high"].astype(object) * 2**32
    return np.clip((sums * factors + 2**63) // 2**64, -(2**15), 2**15 - 1).astype(np.int32)


CASES: dict[str, Callable[[Array], Array]] = {
    "mg_requantize_wide(a.x, a.multiplier, a.shift, MG_ROUND_REDUCED)": _reduced,
    "mg_requantize_wide(a.x, a.multiplier, a.shift, MG_ROUND_DOUBLE)": _double,
    "mg_requantize_real(a.x, a.significand, (int32_t)a.right)": _real,
    "factored(&a)": _factored,
    "mg_clamp_s16((int32_t)a.x, -300, 32767)": lambda rows: np.clip(
        rows["x"].astype(np.int32), -300, 32767
    ),
}


@pytest.mark.parametrize("expression", CASES)
def test_c_equals_numpy(expression: str, tmp_path: Path) -> None:
    rows = _rows(1)
    expected = CASES[expression](rows)
    found = evaluated(DRIVER, expression, rows, tmp_path)
    wrong = np.flatnonzero(found != expected)
    assert not wrong.size, (
        f"{expression} of {rows[wrong[0]]} is {found[wrong[0]]} in C, {expected[wrong[0]]} in numpy"
    )
