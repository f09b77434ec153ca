from __future__ import annotations

import numpy as np
import pytest

from microgen.arithmetic.terms import Activation
from microgen.ir.graph import DType, TensorType
from microgen.ops.maximum import OP, MaximumAttrs
from tests.ops import broadcasting
from tests.ops.litert_oracle import Case, assert_equal, by_litert, by_reference, needs_litert


def make(_activation: Activation) -> MaximumAttrs:
    return MaximumAttrs()


def random_case(seed: int, dtype: DType = DType.INT8) -> Case:
    return broadcasting.litert_case(
        seed,
        OP.name,
        "MAXIMUM",
        "MaximumMinimumOptions",
        make,
        lambda lhs, _rhs: lhs.scale,
        has_activation=False,
        dtype=dtype,
    )


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_equals_litert_whatever_the_quantizations(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


@needs_litert
@pytest.mark.parametrize(
    ("scales", "zero_points"),
    [((0.5, 0.5, 0.5), (-3, -3, -3)), ((1.0, 0.5, 2.0), (3, -20, 9))],
)
def test_every_pair_of_values(scales: tuple[float, ...], zero_points: tuple[int, ...]) -> None:
    options = "MaximumMinimumOptions"
    case = broadcasting.all_pairs(OP.name, "MAXIMUM", options, MaximumAttrs(), scales, zero_points)
    assert_equal(case)


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT16, DType.INT32, DType.FLOAT32])
def test_other_dtypes_equal_litert(dtype: DType) -> None:
    for seed in range(150):
        assert_equal(random_case(seed, dtype))


@needs_litert
def test_nan_and_zeros_of_either_sign_equal_litert() -> None:
    values = np.array([np.nan, np.inf, 0.0, -0.0, 1.0], np.float32)
    kinds = [TensorType((5, 1), DType.FLOAT32), TensorType((5,), DType.FLOAT32)]
    case = Case(
        OP.name,
        MaximumAttrs(),
        kinds,
        [values[:, None], values],
        None,
        "MAXIMUM",
        "MaximumMinimumOptions",
        output_dtype=DType.FLOAT32,
    )
    assert by_reference(case).tobytes() == by_litert(case).tobytes()


def test_refusals() -> None:
    broadcasting.check_refusals(OP.name, MaximumAttrs())
