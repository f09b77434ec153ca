"""resample as a product with a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.detection.sampling import RESAMPLE, ResampleAttrs
from tests.kernels.moves.movement_cases import random_resample

F, S = DType.FLOAT32, DType.INT32


@pytest.mark.parametrize("seed", range(20))
def test_is_a_product_with_a_matrix(seed: int) -> None:
    case = random_resample(seed)
    assert isinstance(case.attrs, ResampleAttrs)
    data, first, weights = (tensor.array for tensor in case.inputs)
    matrix = np.zeros((len(first), data.shape[case.attrs.axis]))
    for row, (start, own) in enumerate(zip(first, weights, strict=True)):
        matrix[row, start : start + len(own)] = own
    expected = np.moveaxis(np.tensordot(matrix, data, (1, case.attrs.axis)), 0, case.attrs.axis)
    np.testing.assert_allclose(case.expected, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        (((4, 2), (3,)), "there are 2 inputs"),
        (((4,), (3,), (3, 1)), "the axis is 1"),
        (((2, 4), (3,), (2, 1)), "they must agree"),
        (((2, 4), (3,), (3, 5)), "5 values are added up"),
    ],
)
def test_impossible_shapes_are_refused(shapes: tuple[tuple[int, ...], ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RESAMPLE.infer(ResampleAttrs(1), [TensorType(shape, F) for shape in shapes])


def test_dtypes() -> None:
    kinds = [TensorType((2,), F), TensorType((3,), S), TensorType((3, 1), F)]
    output = TensorType((3,), F)
    assert RESAMPLE.check(ResampleAttrs(0), kinds, [output]) is None
    for position, wrong in ((0, S), (2, S)):
        given = [TensorType(k.shape, wrong) if i == position else k for i, k in enumerate(kinds)]
        assert "float32" in str(RESAMPLE.check(ResampleAttrs(0), given, [output]))
