from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.slices import DYNAMIC_UPDATE_SLICE, DynamicUpdateSliceAttrs
from tests.kernels.conformance.every_dtype import dtype_of, random_array, random_type
from tests.kernels.conformance.litert_oracle import Case, assert_equal, needs_litert
from tests.kernels.moves.test_dynamic_update_slice import random_shapes

ATTRS = DynamicUpdateSliceAttrs()


def _case(seed: int) -> Case:
    rng, dtype = np.random.default_rng(seed), dtype_of(seed)
    shape, update = random_shapes(rng)
    data = random_type(rng, shape, dtype)
    index = rng.integers(-2, np.array(shape) + 2, len(shape)).astype(np.int32)
    if seed % 5 == 0:
        index[:] = rng.choice([-(2**31), 2**31 - 1], len(shape))
    return Case(
        DYNAMIC_UPDATE_SLICE.name,
        ATTRS,
        [data, TensorType(update, dtype, data.quant), TensorType(index.shape, DType.INT32)],
        [random_array(rng, shape, dtype), random_array(rng, update, dtype), index],
        data.quant,
        "DYNAMIC_UPDATE_SLICE",
        "DynamicUpdateSliceOptions",
        constants=[2] if rng.random() < 0.5 else [],
        output_dtype=dtype,
        version=2,
    )


@needs_litert
def test_equals_litert() -> None:
    for seed in range(120):
        assert_equal(_case(seed))


@pytest.mark.parametrize(
    ("update", "index", "sentence"),
    [
        ((3, 3), (2,), "does not fit into"),
        ((3,), (2,), "does not fit into"),
        ((1, 3), (3,), "one number for each axis"),
    ],
)
def test_impossible_shapes(update: tuple[int, ...], index: tuple[int, ...], sentence: str) -> None:
    kinds = [TensorType(shape, DType.INT32) for shape in ((2, 3), update, index)]
    with pytest.raises(ValueError, match=sentence):
        DYNAMIC_UPDATE_SLICE.infer(ATTRS, kinds)


def test_the_index_is_int32_and_dtypes_agree() -> None:
    data, index = TensorType((2,), DType.FLOAT32), TensorType((1,), DType.INT32)
    assert DYNAMIC_UPDATE_SLICE.check(ATTRS, [data, data, index], [data]) is None
    assert "must be int32" in str(DYNAMIC_UPDATE_SLICE.check(ATTRS, [data, data, data], [data]))
    other = TensorType((2,), DType.INT32)
    assert "one dtype" in str(DYNAMIC_UPDATE_SLICE.check(ATTRS, [data, other, index], [data]))
