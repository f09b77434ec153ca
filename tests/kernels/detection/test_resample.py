from pathlib import Path

from microgen import kernels
from microgen.graph.ops.detection.sampling import RESAMPLE
from tests.kernels.conformance import conformance as c
from tests.kernels.moves.movement_cases import random_resample, resample

CORNERS = [
    resample(1, (1,), 0, 1, 1),
    resample(2, (9, 5), 0, 3, 9),
    resample(3, (2, 9), 1, 20, 4),
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(random_resample, range(60))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(random_resample, range(6))], tmp_path)


def test_what_is_not_known_to_be_inside_is_refused() -> None:
    case = resample(2, (9, 5), 0, 3, 4)
    case.inputs[1].array[0] = 6
    (kernel,) = kernels.registry()[RESAMPLE.name]
    assert "outside of 0 to 5" in str(kernel.refusal(case.node, case.graph))
    computed = case.graph.replace(constants={})
    assert "is computed at run time" in str(kernel.refusal(case.node, computed))
