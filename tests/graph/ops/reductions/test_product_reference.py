"""prod against LiteRT."""

from __future__ import annotations

import dataclasses

import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.reductions.product import OP, ProdAttrs
from tests.kernels.conformance.conformance import quant
from tests.kernels.conformance.litert_oracle import (
    activation_type,
    assert_equal,
    needs_litert,
    output_type,
)
from tests.kernels.reductions.reductions import litert_case


@needs_litert
@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16], ids=lambda dtype: dtype.value)
def test_equals_litert(dtype: DType) -> None:
    for seed in range(100):
        assert_equal(litert_case(seed, OP.name, "REDUCE_PROD", ProdAttrs, dtype, unchanged=False))


@needs_litert
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 1e4])
def test_products_wrap_as_in_litert(scale: float) -> None:
    accepted = 0
    for seed in range(40):
        case = litert_case(seed, OP.name, "REDUCE_PROD", ProdAttrs, unchanged=False)
        case = dataclasses.replace(case, output_quant=quant(scale, seed - 20))
        if OP.check(case.attrs, case.types, [output_type(case)]) is None:
            assert_equal(case)
            accepted += 1
    assert accepted > 20


def test_scales_that_the_fixed_point_lacks_are_refused() -> None:
    data, tiny = activation_type((2,), 1e6, 0), activation_type((), 1e-6, 0)
    found = OP.check(ProdAttrs((0,), False), [data], [tiny])
    assert "the output's scale is too small" in str(found)


def test_plain_numbers_are_refused() -> None:
    kind = ArrayType((2,), DType.INT32)
    assert "it must be int8 or int16" in str(OP.check(ProdAttrs((0,), True), [kind], [kind]))
