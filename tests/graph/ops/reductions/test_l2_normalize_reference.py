from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.ir.graph import Quant
from microgen.graph.ops.reductions.l2_normalize import OP, L2NormalizeAttrs
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    by_reference,
    needs_litert,
    random_activation,
    random_values,
)
from tests.kernels.reductions.row_cases import float_rows, random_rows
from tests.kernels.unary.unary_cases import check_int16_is_refused

UNIT = Quant((1 / 128,), (0,))


def random_case(seed: int) -> Case:
    """A case of usual rows, or (every third) of rows near zero with small sums of squares."""
    rng = np.random.default_rng(seed)
    leading = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(0, 4))))
    data = random_activation(rng, (*leading, int(rng.choice([1, 2, 3, 10, 64, 500]))))
    values = random_values(rng, data.shape)
    if seed % 3 == 0:
        near = data.zero_point + rng.integers(-1, 2, data.shape) * rng.integers(0, 2, data.shape)
        values = np.clip(near, -128, 127).astype(np.int8)
    return Case(
        OP.name, L2NormalizeAttrs(), [data], [values], UNIT, "L2_NORMALIZATION", "L2NormOptions"
    )


@needs_litert
@pytest.mark.parametrize("block", range(6))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize("depth", [8193, 20000, 33025])
def test_sums_of_squares_up_to_int32_equal_litert(depth: int) -> None:
    data = activation_type((1, depth), 1.0, 127)
    case = replace(random_case(1), types=[data])
    assert_equal(replace(case, arrays=[np.full(data.shape, -128, np.int8)]))


def test_close_to_the_real_value() -> None:
    for seed in range(50):
        case = random_case(3 * seed + 1)
        x = case.arrays[0].astype(float) - case.types[0].zero_point
        length = np.maximum(np.sqrt((x**2).sum(axis=-1, keepdims=True)), 1e-6)
        real = np.clip(128 * x / length, -128, 127)
        assert np.abs(by_reference(case) - real).max() <= 1.01


def test_constraints() -> None:
    attrs, data = L2NormalizeAttrs(), activation_type((2, 3), 1.0, 0)
    assert "they must be 1/128 and 0" in str(OP.check(attrs, [data], [data]))
    wide = activation_type((33026,), 1 / 128, 0)
    assert "holds up to 33025" in str(OP.check(attrs, [wide], [wide]))
    with pytest.raises(ValueError, match="no last axis"):
        OP.infer(attrs, [activation_type((), 1.0, 0)])


@needs_litert
def test_floats_equal_litert() -> None:
    for seed in range(100):
        rows = random_rows(np.random.default_rng(seed))
        assert_equal(
            float_rows(OP.name, L2NormalizeAttrs(), "L2_NORMALIZATION", rows, "L2NormOptions")
        )


def test_int16_is_refused() -> None:
    check_int16_is_refused(OP.name, L2NormalizeAttrs())
