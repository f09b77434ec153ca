from pathlib import Path

import pytest

from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import all_class_suppression, random_all_class_suppression

CORNERS = [
    all_class_suppression(1, 1, 1, 1),
    all_class_suppression(2, 1, 1, 30, most=30, overlap=1.0),
    all_class_suppression(3, 2, 3, 8, least_score=2.0),
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_all_class_suppression, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
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
