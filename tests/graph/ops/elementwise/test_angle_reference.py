"""atan2 against LiteRT."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Inexact, Operands
from microgen.graph.ops.elementwise.angle import OP, Atan2Attrs
from tests.kernels.conformance.litert_oracle import (
    Array,
    Case,
    assert_equal,
    float_type,
    needs_litert,
    random_floats,
)


@needs_litert
def test_equals_litert() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        types = [float_type((4, 5))] * 2
        arrays = [random_floats(rng, (4, 5)) for _ in range(2)]
        kinds = ("ATAN2", "ATan2Options")
        case = Case(OP.name, Atan2Attrs(), types, arrays, None, *kinds, output_dtype=DType.FLOAT32)
        assert_equal(case)


def test_other_dtypes_are_refused() -> None:
    kind = ArrayType((2,), DType.INT32)
    found = OP.check(Atan2Attrs(), [kind, kind], [kind])
    assert found == "the left input is int32[2]; all must be of one dtype: float32"


def test_points_within_their_errors_are_within_the_bound() -> None:
    rng = np.random.default_rng(0)
    y, x = (rng.normal(0, 1, 20000).astype(np.float32) for _ in range(2))
    errors = [10.0 ** rng.uniform(-7, 0.5, 20000) for _ in range(2)]
    kind = float_type((20000,))
    operands = Operands((y, x), (kind, kind), (kind,))
    expected = OP.reference(Atan2Attrs(), operands)
    (limit,) = OP.bound.of(Atan2Attrs(), Inexact(operands, tuple(errors), expected, (None,)))

    def moved(values: Array, error: Array) -> Array:
        return (values + rng.uniform(-1, 1, 20000) * error).astype(np.float32)

    for _ in range(20):
        near = Operands((moved(y, errors[0]), moved(x, errors[1])), (kind, kind), (kind,))
        (found,) = OP.reference(Atan2Attrs(), near)
        assert (np.abs(found.astype(np.float64) - expected[0]) <= limit).all()
