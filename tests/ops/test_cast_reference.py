from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from microgen.ir.graph import DType, TensorType
from microgen.ops.cast import ACCEPTED, OP, CastAttrs
from tests.ops.every_dtype import random_type
from tests.ops.litert_oracle import Case, by_litert, by_reference, needs_litert
from tests.ops.test_cast import values


@needs_litert
@pytest.mark.parametrize(("source", "target"), list(product(ACCEPTED, repeat=2)))
def test_equals_litert(source: DType, target: DType) -> None:
    """Stored values are cast, whatever they mean. Floats out of range become what LiteRT gives."""
    rng = np.random.default_rng(2)
    array = values(rng, source)
    data, output = random_type(rng, array.shape, source), random_type(rng, (), target)
    case = Case(
        OP.name,
        CastAttrs(),
        [data],
        [array],
        output.quant,
        "CAST",
        "CastOptions",
        output_dtype=target,
    )
    np.testing.assert_array_equal(by_reference(case), by_litert(case))


def test_refusals() -> None:
    data = TensorType((2,), DType.INT8)
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        OP.infer(CastAttrs(), [data, data])
