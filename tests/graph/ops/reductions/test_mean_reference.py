from __future__ import annotations

from dataclasses import replace

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.reduction import MEAN, MeanAttrs
from tests.kernels.conformance.conformance import quant
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.litert_oracle import activation_type, assert_equal, needs_litert
from tests.kernels.reductions.reductions import litert_case


@needs_litert
@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("block", range(3))
def test_equals_litert(block: int, dtype: DType) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, MEAN.name, "MEAN", MeanAttrs, dtype, unchanged=False))


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16], ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("shift", [-30, -20, 5])
def test_extreme_ratios_of_scales_equal_litert(shift: int, dtype: DType) -> None:
    for seed in range(10):
        case = litert_case(seed, MEAN.name, "MEAN", MeanAttrs, dtype, unchanged=False)
        output = quant(case.types[0].scale / 2.0**shift, 5 if dtype is DType.INT8 else 0)
        assert_equal(replace(case, output_quant=output))


def test_constraints() -> None:
    data, attrs = activation_type((1000, 1000, 10), 1.0, 0), MeanAttrs((0, 1, 2), False)
    found = MEAN.check(attrs, [data], [activation_type((), 1.0, 0)])
    assert "10000000 values are summed, which may reach 2550000000" in str(found)
    tiny = activation_type((), 2.0**-40, 0)
    assert "output's scale is too small for the input's" in str(MEAN.check(attrs, [data], [tiny]))
