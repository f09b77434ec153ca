from __future__ import annotations

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.extremes import ARGMAX, ArgMaxAttrs
from tests.kernels.conformance.litert_oracle import activation_type, assert_equal, needs_litert
from tests.kernels.reductions.arg_extremes import DTYPES, litert_case


@needs_litert
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(2))
def test_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, ARGMAX.name, "ARG_MAX", ArgMaxAttrs, dtype))


def test_constraints() -> None:
    data = activation_type((2, 3), 1.0, 0)
    assert ARGMAX.check(ArgMaxAttrs(0), [data], [data]) == (
        "the output is int8[2,3]; it must be int32 or int64 without quantization"
    )
    with pytest.raises(ValueError, match="the axis 2 is not one of"):
        ARGMAX.infer(ArgMaxAttrs(2), [data])
