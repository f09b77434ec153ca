from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.ir.graph import DType
from microgen.ops.min import OP, MinAttrs
from tests.ops.dtypes import FAMILIES
from tests.ops.litert_oracle import activation_type, assert_equal, needs_litert
from tests.ops.reductions import litert_case

INF, NAN = float("inf"), float("nan")


@needs_litert
@pytest.mark.parametrize("dtype", [*FAMILIES, DType.INT32], ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, OP.name, "REDUCE_MIN", MinAttrs, dtype, unchanged=True))


@needs_litert
@pytest.mark.parametrize("numbers", [[-INF, -INF], [INF, INF], [NAN, 2], [2, NAN], [NAN, NAN]])
def test_infinities_and_nan_as_litert(numbers: list[float]) -> None:
    case = litert_case(4, OP.name, "REDUCE_MIN", MinAttrs, DType.FLOAT32, unchanged=True)
    array = np.resize(np.array(numbers, np.float32), case.types[0].shape)
    assert_equal(replace(case, arrays=[array]))


def test_constraints() -> None:
    data, other = activation_type((2, 3), 1.0, 0), activation_type((3,), 0.5, 0)
    assert "they must be equal" in str(OP.check(MinAttrs((0,), False), [data], [other]))
    with pytest.raises(ValueError, match="not ascending axes"):
        OP.infer(MinAttrs((1, 0), False), [data])
