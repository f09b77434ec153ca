from pathlib import Path

import numpy as np
import pytest

from microgen.ir.graph import DType, TensorType
from microgen.ops.all_class_suppression import OP, AllClassSuppressionAttrs
from tests.ops import conformance as c


def case_of(seed: int, batches: int, classes: int, boxes: int, **attrs: object) -> c.Case:
    """Boxes of which many overlap, and few different scores."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 6, (batches, boxes, 4)).astype(np.float32) / 4
    scores = rng.integers(0, 6, (batches, classes, boxes)).astype(np.float32) / 8
    if seed % 5 == 0:
        scores[rng.random(scores.shape) < 0.1] = np.nan
        corners[rng.random(corners.shape) < 0.05] = np.nan
    inputs = tuple(
        c.Tensor(TensorType(array.shape, DType.FLOAT32), array) for array in (corners, scores)
    )
    chosen = {
        "most": int(rng.integers(1, boxes + 1)),
        "overlap": float(np.float32(rng.choice([0.0, 0.2, 0.5, 1.0]))),
        "least_score": [None, 0.25][seed % 2],
        "is_centred": bool(seed // 2 % 2),
        **attrs,
    }
    made = AllClassSuppressionAttrs(**chosen)  # type: ignore[arg-type]
    return c.Case(f"{chosen}", OP.name, made, inputs, None, DType.INT64)


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    sizes = (int(rng.integers(1, n)) for n in (3, 4, 12))
    return case_of(seed, *sizes)


CORNERS = [
    case_of(1, 1, 1, 1),
    case_of(2, 1, 1, 30, most=30, overlap=1.0),
    case_of(3, 2, 3, 8, least_score=2.0),
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_case, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_case, range(6))], tmp_path)


def test_cases_choose_some_boxes_and_not_others() -> None:
    shares = [float((random_case(seed).expected[:, 2] >= 0).mean()) for seed in range(100)]
    assert sum(0 < share < 1 for share in shares) > 30
    assert (CORNERS[2].expected == -1).all()


@pytest.mark.parametrize("most", [0, 9])
def test_impossible_numbers_are_refused(most: int) -> None:
    with pytest.raises(ValueError, match=f"up to {most} boxes are chosen of 8"):
        case_of(0, 1, 1, 8, most=most)
