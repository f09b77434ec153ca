from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.quantization.conversions import ACCEPTED, CAST, CastAttrs
from tests.kernels.conformance.every_dtype import random_type
from tests.kernels.conformance.litert_oracle import Case, by_litert, by_reference, needs_litert
from tests.kernels.quantization.test_cast import values

WIDE = (DType.UINT16, DType.UINT32, DType.UINT64)
KNOWN = [dtype for dtype in ACCEPTED if dtype not in WIDE]  # those with which LiteRT is compared


@needs_litert
@pytest.mark.parametrize(("source", "target"), list(product(KNOWN, repeat=2)))
def test_equals_litert(source: DType, target: DType) -> None:
    """Stored values are cast, whatever they mean. Floats out of range become what LiteRT gives."""
    rng = np.random.default_rng(2)
    array = values(rng, source)
    data, output = random_type(rng, array.shape, source), random_type(rng, (), target)
    case = Case(
        CAST.name,
        CastAttrs(),
        [data],
        [array],
        output.quant,
        "CAST",
        "CastOptions",
        output_dtype=target,
    )
    np.testing.assert_array_equal(by_reference(case), by_litert(case))


@pytest.mark.parametrize("target", WIDE)
def test_integers_without_a_sign_equal_numpys(target: DType) -> None:
    """Integers wrap as numpy's do. Floats inside of the range are truncated, others saturate."""
    limits, rng = np.iinfo(target.numpy), np.random.default_rng(3)
    kind = TensorType((), target)
    for source in ACCEPTED:
        array = values(rng, source)
        operands = Operands((array,), (TensorType(array.shape, source),), (kind,))
        (found,) = CAST.reference(CastAttrs(), operands)
        if source is not DType.FLOAT32:
            np.testing.assert_array_equal(found, array.astype(target.numpy))
            continue
        for x, y in zip(array.tolist(), found.tolist(), strict=True):
            whole = limits.max if np.isnan(x) else np.clip(x, -1, 2.0**65)
            assert y == min(max(int(whole), 0), limits.max)


def test_refusals() -> None:
    data = TensorType((2,), DType.INT8)
    with pytest.raises(ValueError, match="2 inputs; one is expected"):
        CAST.infer(CastAttrs(), [data, data])
