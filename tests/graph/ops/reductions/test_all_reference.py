from __future__ import annotations

import dataclasses

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.reductions.reduction import ALL, AllAttrs
from tests.kernels.conformance.litert_oracle import Case, assert_equal, by_reference, needs_litert
from tests.kernels.reductions.reductions import litert_case


def _case(seed: int) -> Case:
    case = litert_case(seed, ALL.name, "REDUCE_ALL", AllAttrs, DType.INT32, unchanged=True)
    rng, shape = np.random.default_rng(seed), case.types[0].shape
    array = rng.random(shape) < 0.9
    kind = TensorType(shape, DType.BOOL)
    return dataclasses.replace(
        case, types=[kind], arrays=[array], version=1, output_dtype=DType.BOOL
    )


@needs_litert
def test_equals_litert() -> None:
    for seed in range(60):
        assert_equal(_case(seed))


def test_no_axes_change_nothing() -> None:
    case = dataclasses.replace(_case(0), attrs=AllAttrs((), keep_dims=False))
    np.testing.assert_array_equal(by_reference(case), case.arrays[0])


def test_other_dtypes_are_refused() -> None:
    kind = TensorType((2,), DType.INT32)
    found = ALL.check(AllAttrs((0,), keep_dims=True), [kind], [kind])
    assert found == "the input is int32[2]; it must be bool"
