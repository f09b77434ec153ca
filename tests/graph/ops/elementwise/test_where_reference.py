from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.elementwise.choices import WHERE, WhereAttrs
from tests.kernels.conformance import choices
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import Case, assert_equal, needs_litert

ATTRS = WhereAttrs()


@needs_litert
@pytest.mark.parametrize("dtype", choices.DTYPES)
def test_equals_litert(dtype: DType) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        given = choices.operands(rng, dtype, choices.random_shapes(rng))
        kinds, arrays = [each.type for each in given], [each.array for each in given]
        of = given[1].type.quant
        names = ("SELECT_V2", "SelectV2Options")
        assert_equal(Case(WHERE.name, ATTRS, kinds, arrays, of, *names, output_dtype=dtype))


def test_refusals() -> None:
    flag, plain = ArrayType((2,), DType.BOOL), ArrayType((2,), DType.FLOAT32)
    data, other = (ArrayType((2,), DType.INT8, c.quant(0.1, point)) for point in (0, 1))
    with pytest.raises(ValueError, match="2 inputs; a condition and two are expected"):
        WHERE.infer(ATTRS, [flag, data])
    with pytest.raises(ValueError, match=r"bool\[3\] and int8\[2\] and int8\[2\] do not broadcast"):
        WHERE.infer(ATTRS, [ArrayType((3,), DType.BOOL), data, data])
    for inputs, sentence in (
        ((plain, data, data), "the condition is float32"),
        ((flag, data, other), "they must be equal"),
        ((flag, other, data), "they must be equal"),
        ((flag, data, plain), "they must be of one dtype"),
    ):
        assert sentence in str(WHERE.check(ATTRS, inputs, [data]))
