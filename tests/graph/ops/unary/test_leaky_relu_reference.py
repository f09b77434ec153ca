from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.ops.unary.activations import LEAKY_RELU, LeakyReluAttrs
from tests.kernels.conformance.litert_oracle import assert_equal, needs_litert
from tests.kernels.unary.unary_cases import (
    Operator,
    Ranges,
    check_floats,
    check_int16,
    powers,
    random_cases,
    types,
    unary_case,
)

ALPHAS = (0.0, 0.01, 0.1, 0.3, 1.0, 2.5, -0.2, -1.7)


@needs_litert
@pytest.mark.parametrize("alpha", ALPHAS)
def test_equals_litert(alpha: float) -> None:
    attrs = LeakyReluAttrs(float(np.float32(alpha)))
    case = unary_case(LEAKY_RELU.name, attrs, "LEAKY_RELU", *types(1, 1))
    case = replace(case, options_type="LeakyReluOptions", options={"alpha": attrs.alpha})
    cases = list(random_cases(case, ALPHAS.index(alpha), Ranges()))
    assert len(cases) > 25
    for found in cases:
        assert_equal(found)


@needs_litert
@pytest.mark.parametrize("alpha", ALPHAS)
def test_int16_and_floats_equal_litert(alpha: float) -> None:
    attrs = LeakyReluAttrs(float(np.float32(alpha)))
    operator = Operator("LEAKY_RELU", 2, "LeakyReluOptions", {"alpha": attrs.alpha})
    check_int16(LEAKY_RELU.name, attrs, operator, powers(-16, -4, (-16.0, -4.0)), count=10)
    check_floats(LEAKY_RELU.name, attrs, operator)


@pytest.mark.parametrize(("alpha", "scale_out"), [(0.1, 2.0**-40), (1e30, 2.0**-20)])
def test_a_slope_out_of_range_is_refused(alpha: float, scale_out: float) -> None:
    found = LEAKY_RELU.check(LeakyReluAttrs(alpha), *([kind] for kind in types(1, scale_out)))
    assert "output's scale is too small for the input's" in str(found)
