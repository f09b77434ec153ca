from __future__ import annotations

from dataclasses import replace

import pytest

from microgen.ops.mean import OP, MeanAttrs
from tests.ops.litert_oracle import activation_type, assert_equal, needs_litert
from tests.ops.reductions import litert_case


@needs_litert
@pytest.mark.parametrize("block", range(5))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        assert_equal(litert_case(seed, OP.name, "MEAN", MeanAttrs, unchanged=False))


@needs_litert
@pytest.mark.parametrize("shift", [-30, -20, 8])
def test_extreme_ratios_of_scales_equal_litert(shift: int) -> None:
    for seed in range(10):
        case = litert_case(seed, OP.name, "MEAN", MeanAttrs, unchanged=False)
        output = activation_type((), case.types[0].scale / 2.0**shift, 5).quant
        assert output is not None
        assert_equal(replace(case, output_quant=output))


def test_constraints() -> None:
    data, attrs = activation_type((1000, 1000, 10), 1.0, 0), MeanAttrs((0, 1, 2), False)
    found = OP.check(attrs, [data], [activation_type((), 1.0, 0)])
    assert "10000000 values are summed, which may reach 2550000000" in str(found)
    tiny = activation_type((), 2.0**-40, 0)
    assert "output's scale is too small for the input's" in str(OP.check(attrs, [data], [tiny]))
