from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.detection.suppression import (
    MULTICLASS_SUPPRESSION,
    NON_MAX_SUPPRESSION,
    MulticlassSuppressionAttrs,
    NonMaxSuppressionAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import all_class_suppression, random_all_class_suppression


def _non_max_suppression_case(seed: int) -> c.Case:
    """Boxes that overlap more or less, with scores that are often equal."""
    rng = np.random.default_rng(seed)
    count, most = (int(n) for n in rng.integers(1, (60, 20)))
    corner = rng.uniform(0, 1, (count, 2))
    far = corner + rng.uniform(-0.05 if seed % 5 == 0 else 0, 0.6, (count, 2))
    boxes = np.concatenate([corner, far], axis=1).astype(np.float32)
    scores = rng.uniform(0, 1, count).astype(np.float32)
    scores = np.round(scores * 8) / np.float32(8) if seed % 2 else scores
    classes = rng.integers(0, 90, count).astype(np.int32)
    least, overlap = float(rng.choice([1e-8, 0.3, 0.9])), float(rng.choice([0.05, 0.5, 0.6, 1.0]))
    arrays = (boxes, scores.astype(np.float32), classes)
    inputs = tuple(
        c.Tensor(ArrayType(array.shape, DType(array.dtype.name), None), array) for array in arrays
    )
    attrs = NonMaxSuppressionAttrs(most, float(np.float32(least)), float(np.float32(overlap)))
    return c.Case(f"seed {seed}", NON_MAX_SUPPRESSION.name, attrs, inputs, None, DType.FLOAT32)


def test_non_max_suppression_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [_non_max_suppression_case(seed) for seed in range(150)]
    c.check(cases, tmp_path)
    counts = {int(case.expected[0, 6]) for case in cases}
    assert len(counts) > 10


def test_non_max_suppression_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([_non_max_suppression_case(seed) for seed in range(8)], tmp_path)


CORNERS = [
    all_class_suppression(1, 1, 1, 1),
    all_class_suppression(2, 1, 1, 30, most=30, overlap=1.0),
    all_class_suppression(3, 2, 3, 8, least_score=2.0),
]


def test_all_class_suppression_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_all_class_suppression, range(100))], tmp_path)


def test_all_class_suppression_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_all_class_suppression, range(6))], tmp_path)


def test_cases_choose_some_boxes_and_not_others() -> None:
    shares = [
        float((random_all_class_suppression(seed).expected[:, 2] >= 0).mean())
        for seed in range(100)
    ]
    assert sum(0 < share < 1 for share in shares) > 30
    assert (CORNERS[2].expected == -1).all()


@pytest.mark.parametrize("most", [0, 9])
def test_impossible_numbers_are_refused(most: int) -> None:
    with pytest.raises(ValueError, match=f"up to {most} boxes are chosen of 8"):
        all_class_suppression(0, 1, 1, 8, most=most)


def _multiclass_suppression_case(seed: int) -> c.Case:
    """Boxes that overlap more or less, with scores that are often equal."""
    rng = np.random.default_rng(seed)
    count, classes, most, each = (int(n) for n in rng.integers(1, (40, 12, 16, 6)))
    corner = rng.uniform(0, 1, (count, 2))
    far = corner + rng.uniform(-0.05 if seed % 5 == 0 else 0, 0.6, (count, 2))
    boxes = np.concatenate([corner, far], axis=1).astype(np.float32)
    scores = rng.uniform(0, 1, (count, classes))
    scores = np.round(scores * 8) / 8 if seed % 2 else scores
    least, overlap = float(rng.choice([1e-8, 0.3, 0.9])), float(rng.choice([0.05, 0.5, 0.6, 1.0]))
    inputs = tuple(
        c.Tensor(ArrayType(array.shape, DType.FLOAT32, None), array.astype(np.float32))
        for array in (boxes, scores)
    )
    per_class = int(rng.integers(1, 9)) if seed % 3 else 0
    limits = (float(np.float32(least)), float(np.float32(overlap)))
    attrs = MulticlassSuppressionAttrs(most, each, per_class, *limits)
    return c.Case(f"seed {seed}", MULTICLASS_SUPPRESSION.name, attrs, inputs, None, DType.FLOAT32)


def test_multiclass_suppression_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [_multiclass_suppression_case(seed) for seed in range(300)]
    c.check(cases, tmp_path)
    counts = {int(case.expected[0, 6]) for case in cases}
    assert len(counts) > 10


def test_multiclass_suppression_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([_multiclass_suppression_case(seed) for seed in range(8)], tmp_path)
