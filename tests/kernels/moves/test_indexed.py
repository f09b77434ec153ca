from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.moves.indexed import (
    AXIS_POSITIONS,
    GATHER_ND,
    ND_POSITIONS,
    GatherNdAttrs,
    NdPositionsAttrs,
    TakeAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor
from tests.kernels.moves.movement_cases import (
    COMBINED,
    REDUCTIONS,
    axis_positions,
    nd_positions,
    scatter,
)


def _take_case(
    dtype: DType,
    seed: int,
    name: str,
    shape: tuple[int, ...],
    axis: int,
    indices_shape: tuple[int, ...],
    batch_dims: int = 0,
    least: int = 0,
    is_constant: bool = True,
    wide: bool = False,
) -> c.Case:
    """A case with random indices from ``least`` to below the axis's size minus ``least``, which are
    int64 if they are ``wide``."""
    rng = np.random.default_rng(seed)
    data, attrs = tensor(rng, shape, dtype), TakeAttrs(axis, batch_dims)
    of = DType.INT64 if wide else DType.INT32
    values = rng.integers(least, shape[axis] - least, indices_shape).astype(of.numpy)
    indices = c.Tensor(ArrayType(indices_shape, of), values, is_constant)
    return c.Case(name, "take", attrs, (data, indices), data.type.quant, dtype)


def _take_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    own = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    axis = int(rng.integers(len(shape)))
    batch_dims = int(rng.integers(axis + 1))
    indices, dtype = (*shape[:batch_dims], *own), dtype_of(seed)
    is_constant, least, wide = bool(rng.random() < 0.5), 0, seed % 4 == 1
    if not is_constant and rng.random() < 0.3:
        least = -1
    return _take_case(
        dtype, seed, f"random {seed}", shape, axis, indices, batch_dims, least, is_constant, wide
    )


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _take_case(dtype, 1, "one element", (1,), 0, (1,)),
        _take_case(dtype, 2, "a scalar index", (3, 4), 0, ()),
        _take_case(dtype, 3, "the last axis", (2, 3, 4), 2, (7,)),
        _take_case(dtype, 4, "batches", (2, 3, 4, 5), 2, (2, 7), 1),
        _take_case(dtype, 5, "computed", (3, 4), 0, (5,), is_constant=False),
        _take_case(dtype, 6, "wide", (2, 3, 4, 5), 2, (2, 7), 1, is_constant=False, wide=True),
    )


TAKE_CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_take_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*TAKE_CORNERS, *map(_take_random, range(100))], tmp_path)


def test_take_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*TAKE_CORNERS, *map(_take_random, range(6))], tmp_path)


def test_take_random_cases_have_indices_outside() -> None:
    statuses = [_take_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 50
    assert statuses.count(0) > 50


def test_indices_far_outside_are_not_cut() -> None:
    case = TAKE_CORNERS[5]
    data, _ = case.inputs
    far = c.Tensor(ArrayType((1,), DType.INT64), np.array([2**32], np.int64))
    case = replace(case, attrs=TakeAttrs(0), inputs=(data, far))
    assert case.outcome.status == 0x0803
    assert [
        k.symbol for k in kernels.registry()["take"] if not k.refusal(case.node, case.graph)
    ] == ["mg_take_computed_wide"]


def test_unchecked_indices_must_be_constants_inside_the_axis() -> None:
    case = TAKE_CORNERS[1]
    kernel, checked, _ = kernels.registry()["take"]
    computed = case.graph.replace(constants={})
    assert checked.refusal(case.node, computed) is None
    assert "needs a constant" in str(kernel.refusal(case.node, computed))
    outside = case.graph.replace(constants={"input1": np.array(3, np.int32)})
    assert "outside of 0 to 2" in str(kernel.refusal(case.node, outside))


Shape = tuple[int, ...]


def _gather_nd_case(
    seed: int, dtype: DType, shape: Shape, counts: Shape, depth: int, over: int
) -> c.Case:
    """A case whose indices are up to ``over`` outside of each end."""
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, dtype)
    values = rng.integers(-over, np.array(shape[:depth]) + over, (*counts, depth))
    indices = c.Tensor(ArrayType(values.shape, DType.INT32), values.astype(np.int32))
    name = f"{values.shape} of {shape}, {over} over"
    inputs, attrs = (data, indices), GatherNdAttrs()
    return c.Case(name, GATHER_ND.name, attrs, inputs, data.type.quant, dtype)


def _gather_nd_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    counts = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    depth, over = int(rng.integers(1, len(shape) + 1)), int(rng.random() < 0.2)
    return _gather_nd_case(seed, dtype_of(seed), shape, counts, depth, over)


GATHER_ND_CORNERS = [
    _gather_nd_case(1, dtype, *one)
    for dtype in DTYPES
    for one in (
        ((1,), (), 1, 0),
        ((5, 3), (4,), 2, 0),
        ((2, 3, 4, 5), (2, 3), 3, 0),
        ((2, 2, 1, 2, 1, 2, 2, 2), (7,), 8, 0),
        ((2, 3), (20,), 2, 1),
    )
]


def test_gather_nd_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*GATHER_ND_CORNERS, *map(_gather_nd_random, range(100))], tmp_path)


def test_gather_nd_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*GATHER_ND_CORNERS, *map(_gather_nd_random, range(6))], tmp_path)


def test_gather_nd_random_cases_have_indices_outside() -> None:
    statuses = [_gather_nd_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40
    assert statuses.count(0) > 60


def test_gather_nd_more_than_eight_axes_are_refused() -> None:
    case = _gather_nd_case(0, DType.INT32, (1,) * 9, (), 9, 0)
    (kernel,) = kernels.registry()[GATHER_ND.name]
    assert kernel.refusal(case.node, case.graph) == "9 axes have indices, the kernel takes 8"


def _axis_positions_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 6))))
    axis = int(rng.integers(len(shape)))
    own = tuple(int(rng.integers(1, n + 1)) if rng.random() < 0.4 else n for n in shape)
    own = (*own[:axis], int(rng.integers(1, 7)), *own[axis + 1 :])
    return axis_positions(seed, shape, own, axis, int(rng.random() < 0.2))


AXIS_POSITIONS_CORNERS = [
    axis_positions(seed, *one)
    for seed in (0, 1)
    for one in (
        ((1,), (1,), 0),
        ((5,), (9,), 0),
        ((2, 3, 4, 2, 3, 2), (1, 2, 3, 5, 2, 1), 3),
        ((2, 3, 4, 2, 3, 2), (2, 3, 4, 2, 3, 2), 0),
        ((2, 3, 4, 2, 3, 2), (2, 3, 4, 2, 3, 2), 5),
    )
]


def test_axis_positions_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*AXIS_POSITIONS_CORNERS, *map(_axis_positions_random, range(100))], tmp_path)


def test_axis_positions_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*AXIS_POSITIONS_CORNERS, *map(_axis_positions_random, range(6))], tmp_path)


def test_axis_positions_random_cases_have_indices_outside() -> None:
    statuses = [_axis_positions_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40


def test_more_than_six_axes_are_refused() -> None:
    case = axis_positions(0, (3,) * 7, (2,) * 7, 3)
    (kernel,) = kernels.registry()[AXIS_POSITIONS.name]
    assert "lie along 7 axes" in str(kernel.refusal(case.node, case.graph))


def _nd_positions_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    counts = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    return nd_positions(seed, shape, counts, int(rng.random() < 0.2))


def _far(value: int) -> c.Case:
    """An index that does not fit int32."""
    indices = np.array([[0], [value]], np.int64)
    tensor = c.Tensor(ArrayType(indices.shape, DType.INT64), indices)
    return c.Case(
        f"far {value}", ND_POSITIONS.name, NdPositionsAttrs((3,)), (tensor,), None, DType.INT32
    )


ND_POSITIONS_CORNERS = [
    *(nd_positions(seed, (1,), (), 0) for seed in (0, 1)),
    *(nd_positions(seed, (2, 1, 3, 2, 1, 2, 2, 3), (7,), 0) for seed in (0, 1)),
    *(_far(value) for value in (2**32, -(2**32), 2**62, -(2**63))),
]


def test_nd_positions_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*ND_POSITIONS_CORNERS, *map(_nd_positions_random, range(100))], tmp_path)


def test_nd_positions_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*ND_POSITIONS_CORNERS, *map(_nd_positions_random, range(6))], tmp_path)


def test_nd_positions_random_cases_have_indices_outside() -> None:
    statuses = [_nd_positions_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40
    assert all(case.outcome.status for case in ND_POSITIONS_CORNERS[4:])


def test_nd_positions_more_than_eight_axes_are_refused() -> None:
    case = nd_positions(0, (1,) * 9, (), 0)
    (kernel,) = kernels.registry()[ND_POSITIONS.name]
    assert kernel.refusal(case.node, case.graph) == "9 axes have indices, the kernel takes 8"


def _scatter_random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(1, 4))))
    reduction = REDUCTIONS[seed % len(REDUCTIONS)]
    dtype = dtype_of(seed // 5) if reduction == "none" else COMBINED[seed // 5 % len(COMBINED)]
    over = int(rng.random() < 0.2)
    return scatter(seed, dtype, shape, int(rng.integers(1, 9)), reduction, seed % 3 == 0, over)


def _special(seed: int) -> c.Case:
    """Floats that are not numbers, infinite or zeros of both signs."""
    case = scatter(seed, DType.FLOAT32, (9, 4), 30, REDUCTIONS[3 + seed % 2], False)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)
    rng = np.random.default_rng(seed)
    for operand in (case.inputs[0], case.inputs[2]):
        operand.array[:] = rng.choice(values, operand.array.shape)
    return case


SCATTER_CORNERS = [
    *(scatter(1, dtype, (5, 3), 4, "none", filled) for dtype in DTYPES for filled in (False, True)),
    *(
        scatter(2, dtype, (3, 2), 9, reduction, filled)
        for dtype in COMBINED
        for reduction in REDUCTIONS[1:]
        for filled in (False, True)
    ),
    *map(_special, range(4)),
]


def test_scatter_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*SCATTER_CORNERS, *map(_scatter_random, range(120))], tmp_path)


def test_scatter_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*SCATTER_CORNERS, *map(_scatter_random, range(6))], tmp_path)


def test_random_cases_have_positions_outside() -> None:
    statuses = [_scatter_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40


@pytest.mark.parametrize("dtype", [DType.INT8, DType.BOOL])
def test_other_dtypes_are_not_combined(dtype: DType) -> None:
    with pytest.raises(ValueError, match="to be combined it must be float32, int32, int64"):
        scatter(0, dtype, (2,), 1, "add", False)
