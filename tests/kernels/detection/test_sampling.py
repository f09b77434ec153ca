from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.detection.resize2d import Resize2DAttrs
from microgen.graph.ops.detection.sampling import MODES, PADDINGS, RESAMPLE
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import dtypes
from tests.kernels.moves.movement_cases import grid_sample, random_resample, resample, roi_align


def _grid_sample_random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(3, 6))))
    points = tuple(int(n) for n in rng.integers(1, 5, len(shape) - 2))
    mode, padding = MODES[seed % 3], PADDINGS[seed // 3 % 3]
    return grid_sample(seed, shape, points, mode, padding, bool(seed // 9 % 2))


GRID_SAMPLE_CORNERS = [
    grid_sample(1, (1, 1, 1, 1), (4, 4), mode, padding, aligns)
    for mode in MODES
    for padding in PADDINGS
    for aligns in (False, True)
]


def test_grid_sample_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*GRID_SAMPLE_CORNERS, *map(_grid_sample_random_case, range(108))], tmp_path)


def test_grid_sample_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*GRID_SAMPLE_CORNERS, *map(_grid_sample_random_case, range(18))], tmp_path)


RESAMPLE_CORNERS = [
    resample(1, (1,), 0, 1, 1),
    resample(2, (9, 5), 0, 3, 9),
    resample(3, (2, 9), 1, 20, 4),
]


def test_resample_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*RESAMPLE_CORNERS, *map(random_resample, range(60))], tmp_path)


def test_resample_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*RESAMPLE_CORNERS, *map(random_resample, range(6))], tmp_path)


def test_what_is_not_known_to_be_inside_is_refused() -> None:
    case = resample(2, (9, 5), 0, 3, 4)
    case.inputs[1].array[0] = 6
    (kernel,) = kernels.registry()[RESAMPLE.name]
    assert "outside of 0 to 5" in str(kernel.refusal(case.node, case.graph))
    computed = case.graph.replace(constants={})
    assert "is computed at run time" in str(kernel.refusal(case.node, computed))


def _case(
    seed: int, name: str, shape: tuple[int, ...], attrs: Resize2DAttrs, dtype: DType
) -> c.Case:
    data = dtypes.kernel_data(np.random.default_rng(seed), dtype, shape)
    return c.Case(name, "image.resize2d", attrs, (data,), data.type.quant, dtype)


def _random(seed: int, dtype: DType, *, in_floats: bool = False) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in (rng.integers(1, 3), *rng.integers(1, 9, 2), rng.integers(1, 4)))
    height, width = (int(n) for n in rng.integers(1, 18, 2))
    aligned, centred = ((False, False), (True, False), (False, True))[seed % 3]
    attrs = Resize2DAttrs((height, width), aligned, centred, in_floats)
    return _case(seed, f"random {seed}", shape, attrs, dtype)


RESIZE2D_CORNERS = (
    (1, "one pixel", (1, 1, 1, 1), Resize2DAttrs((1, 1), False, False)),
    (2, "one pixel grows", (1, 1, 1, 2), Resize2DAttrs((3, 4), False, True)),
    (3, "to one pixel", (1, 5, 4, 2), Resize2DAttrs((1, 1), True, False)),
    (4, "one pixel of many", (1, 40, 40, 1), Resize2DAttrs((1, 1), False, True)),
)


@pytest.mark.parametrize("dtype", dtypes.FAMILIES, ids=lambda dtype: dtype.value)
def test_resize2d_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    cases = [_case(*corner, dtype) for corner in RESIZE2D_CORNERS]
    cases += [_random(seed, dtype) for seed in range(100)]
    c.check(cases, tmp_path)
    c.check_inlined(cases[:10], tmp_path)


def test_stored_values_in_floats(tmp_path: Path) -> None:
    cases = [
        _case(seed, name, shape, dataclasses.replace(attrs, in_floats=True), DType.INT8)
        for seed, name, shape, attrs in RESIZE2D_CORNERS
    ]
    cases += [_random(seed, DType.INT8, in_floats=True) for seed in range(200)]
    c.check(cases, tmp_path)
    c.check_inlined(cases[:10], tmp_path)


def _roi_align_random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, (3, 9, 9, 5)))
    return roi_align(seed, shape, int(rng.integers(1, 4)), int(rng.random() < 0.2))


ROI_ALIGN_CORNERS = [roi_align(seed, (1, 1, 1, 1), 2) for seed in range(8)]


def test_roi_align_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*ROI_ALIGN_CORNERS, *map(_roi_align_random_case, range(60))], tmp_path)


def test_roi_align_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*ROI_ALIGN_CORNERS, *map(_roi_align_random_case, range(8))], tmp_path)


def test_some_cases_have_no_such_image() -> None:
    statuses = [_roi_align_random_case(seed).outcome.status for seed in range(60)]
    assert 1 < statuses.count(0x0803) < 20
