from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.detection.suppression import NON_MAX_SUPPRESSION, NonMaxSuppressionAttrs
from tests.kernels.conformance import conformance as c


def _case(seed: int) -> c.Case:
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
        c.Tensor(TensorType(array.shape, DType(array.dtype.name), None), array) for array in arrays
    )
    attrs = NonMaxSuppressionAttrs(most, float(np.float32(least)), float(np.float32(overlap)))
    return c.Case(f"seed {seed}", NON_MAX_SUPPRESSION.name, attrs, inputs, None, DType.FLOAT32)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    cases = [_case(seed) for seed in range(150)]
    c.check(cases, tmp_path)
    counts = {int(case.expected[0, 6]) for case in cases}
    assert len(counts) > 10


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([_case(seed) for seed in range(8)], tmp_path)
