"""vision.all_class_non_max_suppression against onnx's reference implementation."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.detection.suppression import ALL_CLASS_SUPPRESSION, AllClassSuppressionAttrs
from tests.kernels.conformance.onnx_oracle import by_onnx
from tests.kernels.moves.movement_cases import random_all_class_suppression


@pytest.mark.parametrize("seed", [seed for seed in range(50) if seed % 5])
def test_equals_onnx(seed: int) -> None:
    case = random_all_class_suppression(seed)
    attrs = case.attrs
    assert isinstance(attrs, AllClassSuppressionAttrs)
    least = attrs.least_score
    given = [
        *(tensor.array for tensor in case.inputs),
        np.array([attrs.most]),
        np.array([attrs.overlap], np.float32),
        None if least is None else np.array([least], np.float32),
    ]
    expected = by_onnx(
        "NonMaxSuppression", given[: 4 + (least is not None)], center_point_box=attrs.is_centred
    )
    found = case.expected
    np.testing.assert_array_equal(found[: len(expected)], expected.reshape(-1, 3))
    assert (found[len(expected) :] == -1).all()


@pytest.mark.parametrize(
    "shapes", [((1, 8, 4),), ((1, 8, 3), (1, 1, 8)), ((2, 8, 4), (1, 1, 8)), ((1, 8, 4), (8,))]
)
def test_impossible_shapes_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    kinds = [TensorType(shape, DType.FLOAT32) for shape in shapes]
    with pytest.raises(ValueError, match="expected"):
        ALL_CLASS_SUPPRESSION.infer(AllClassSuppressionAttrs(1, 0.5, None, False), kinds)


def test_dtypes() -> None:
    attrs = AllClassSuppressionAttrs(1, 0.5, None, False)
    plain, wide = TensorType((1,), DType.FLOAT32), TensorType((1,), DType.INT64)
    assert "the boxes are" in str(ALL_CLASS_SUPPRESSION.check(attrs, [wide, plain], [wide]))
    assert "the scores are" in str(ALL_CLASS_SUPPRESSION.check(attrs, [plain, wide], [wide]))
    assert "it is int64" in str(ALL_CLASS_SUPPRESSION.check(attrs, [plain, plain], [plain]))
