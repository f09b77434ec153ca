from dataclasses import replace
from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.indexed import TakeAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor


def _case(
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
    indices = c.Tensor(TensorType(indices_shape, of), values, is_constant)
    return c.Case(name, "take", attrs, (data, indices), data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    own = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    axis = int(rng.integers(len(shape)))
    batch_dims = int(rng.integers(axis + 1))
    indices, dtype = (*shape[:batch_dims], *own), dtype_of(seed)
    is_constant, least, wide = bool(rng.random() < 0.5), 0, seed % 4 == 1
    if not is_constant and rng.random() < 0.3:
        least = -1
    return _case(
        dtype, seed, f"random {seed}", shape, axis, indices, batch_dims, least, is_constant, wide
    )


def _corners(dtype: DType) -> tuple[c.Case, ...]:
    return (
        _case(dtype, 1, "one element", (1,), 0, (1,)),
        _case(dtype, 2, "a scalar index", (3, 4), 0, ()),
        _case(dtype, 3, "the last axis", (2, 3, 4), 2, (7,)),
        _case(dtype, 4, "batches", (2, 3, 4, 5), 2, (2, 7), 1),
        _case(dtype, 5, "computed", (3, 4), 0, (5,), is_constant=False),
        _case(dtype, 6, "wide", (2, 3, 4, 5), 2, (2, 7), 1, is_constant=False, wide=True),
    )


CORNERS = [case for dtype in DTYPES for case in _corners(dtype)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_random_cases_have_indices_outside() -> None:
    statuses = [_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 50
    assert statuses.count(0) > 50


def test_indices_far_outside_are_not_cut() -> None:
    case = CORNERS[5]
    data, _ = case.inputs
    far = c.Tensor(TensorType((1,), DType.INT64), np.array([2**32], np.int64))
    case = replace(case, attrs=TakeAttrs(0), inputs=(data, far))
    assert case.outcome.status == 0x0803
    assert [
        k.symbol for k in kernels.registry()["take"] if not k.refusal(case.node, case.graph)
    ] == ["mg_take_computed_wide"]


def test_unchecked_indices_must_be_constants_inside_the_axis() -> None:
    case = CORNERS[1]
    kernel, checked, _ = kernels.registry()["take"]
    computed = case.graph.replace(constants={})
    assert checked.refusal(case.node, computed) is None
    assert "needs a constant" in str(kernel.refusal(case.node, computed))
    outside = case.graph.replace(constants={"input1": np.array(3, np.int32)})
    assert "outside of 0 to 2" in str(kernel.refusal(case.node, outside))
