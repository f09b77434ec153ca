from __future__ import annotations

from microgen.ir.graph import DType, TensorType
from microgen.ops.sin import OP, SinAttrs
from tests.ops.litert_oracle import needs_litert
from tests.ops.unary_cases import Operator, check_floats


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("sin", SinAttrs(), Operator("SIN"))


def test_other_dtypes_are_refused() -> None:
    kind = TensorType((2,), DType.INT32)
    assert OP.check(SinAttrs(), [kind], [kind]) == "the input is int32[2]; it must be float32"
