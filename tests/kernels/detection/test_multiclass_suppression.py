from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.detection.multiclass_suppression import OP, MulticlassSuppressionAttrs
from tests.kernels.conformance import conformance as c


def _case(seed: int) -> c.Case:
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
        c.Tensor(TensorType(array.shape, DType.FLOAT32, None), array.astype(np.float32))
        for array in (boxes, scores)
    )
    per_class = int(rng.integers(1, 9)) if seed % 3 else 0
    limits = (float(np.float32(least)), float(np.float32(overlap)))
    attrs = MulticlassSuppressionAttrs(most, each, per_class, *limits)
    return c.Case(f"seed {seed}", OP.name, attrs, inputs, None, DType.FLOAT32)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [_case(seed) for seed in range(300)]
    c.check(cases, tmp_path)
    counts = {int(case.expected[0, 6]) for case in cases}
    assert len(counts) > 10


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([_case(seed) for seed in range(8)], tmp_path)
