from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.unary.functions import CEIL, CeilAttrs
from tests.kernels.conformance.litert_oracle import float_type, needs_litert
from tests.kernels.unary.unary_cases import Operator, by_default_litert, check_floats


@needs_litert
def test_floats_equal_litert() -> None:
    check_floats("ceil", CeilAttrs(), Operator("CEIL"), litert=by_default_litert)


def test_other_dtypes_are_refused() -> None:
    kind = TensorType((2,), DType.INT32)
    assert CEIL.check(CeilAttrs(), [kind], [kind]) == "the input is int32[2]; it must be float32"


def test_ties_and_signs() -> None:
    x = np.array([-1.5, -0.5, -0.2, -0.0, 0.2, 0.5, 1.5, 2.5], np.float32)
    kind = float_type(x.shape)
    (found,) = CEIL.reference(CeilAttrs(), Operands((x,), (kind,), (kind,)))
    np.testing.assert_array_equal(found, np.array([-1, 0, 0, 0, 1, 1, 2, 3], np.float32))
