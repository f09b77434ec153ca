from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.reductions.running import CUMSUM, DTYPES, CumsumAttrs
from tests.kernels.conformance.every_dtype import random_array
from tests.kernels.conformance.litert_oracle import Case, assert_equal, int32_constant, needs_litert


def _case(seed: int) -> Case:
    rng, dtype = np.random.default_rng(seed), DTYPES[seed % len(DTYPES)]
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 5))))
    axis, exclusive, reverse = int(rng.integers(len(shape))), seed % 2 == 0, seed % 4 < 2
    return Case(
        CUMSUM.name,
        CumsumAttrs(axis, exclusive, reverse),
        [TensorType(shape, dtype)],
        [random_array(rng, shape, dtype)],
        None,
        "CUMSUM",
        "CumsumOptions",
        {"exclusive": exclusive, "reverse": reverse},
        extra=[int32_constant("axis", np.array(axis - int(rng.choice([0, len(shape)]))))],
        output_dtype=dtype,
    )


@needs_litert
def test_equals_litert() -> None:
    for seed in range(120):
        assert_equal(_case(seed))


def test_impossible_inputs_are_refused() -> None:
    kind, other = TensorType((2, 3), DType.INT32), TensorType((2, 3), DType.BOOL)
    with pytest.raises(ValueError, match="the axis is 2"):
        CUMSUM.infer(CumsumAttrs(2), [kind])
    expected = "the input is bool[2,3]; it must be int32 or int64 or float32"
    assert CUMSUM.check(CumsumAttrs(1), [other], [other]) == expected
