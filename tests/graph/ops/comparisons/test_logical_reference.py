from __future__ import annotations

import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from tests.kernels.comparisons.logicals import OPERATORS, operands
from tests.kernels.conformance.litert_oracle import Case, assert_equal, needs_litert

ATTRS = LogicalAttrs()


@needs_litert
@pytest.mark.parametrize("op", OPERATORS)
def test_equals_litert(op: str) -> None:
    for seed in range(40):
        given = operands(seed, op)
        kinds, arrays = [each.type for each in given], [each.array for each in given]
        code, options = OPERATORS[op]
        assert_equal(Case(op, ATTRS, kinds, arrays, None, code, options, output_dtype=DType.BOOL))


@pytest.mark.parametrize("op", OPERATORS)
def test_refusals(op: str) -> None:
    definition = registry()[op]
    one, other = ArrayType((2,), DType.BOOL), ArrayType((2,), DType.INT8)
    count = 1 if op == "logical_not" else 2
    with pytest.raises(ValueError, match=f"3 inputs of {op}; {count} expected"):
        definition.infer(ATTRS, [one] * 3)
    assert "the input is int8" in str(definition.check(ATTRS, [other] * count, [one]))
    assert "the output is int8" in str(definition.check(ATTRS, [one] * count, [other]))
