from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.reductions.extremes import ExtremeAttrs, MaxAttrs, MinAttrs
from microgen.graph.ops.reductions.product import ProdAttrs
from microgen.graph.ops.reductions.reduction import ALL, AllAttrs, MeanAttrs, SumAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.conformance.every_dtype import tensor
from tests.kernels.reductions.reductions import SHAPES_AND_AXES, Axes, check_kernels


def _case(seed: int) -> c.Case:
    """Mostly true values, so that some of their conjunctions are true."""
    shape, axes = SHAPES_AND_AXES[seed % len(SHAPES_AND_AXES)]
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, DType.BOOL)
    array = data.array | (rng.random(shape) < 1 - 0.5 / data.array.size)
    attrs = AllAttrs(axes, keep_dims=seed % 2 == 0)
    return c.Case(f"all {seed}", ALL.name, attrs, (c.Tensor(data.type, array),), None, DType.BOOL)


CASES = [_case(seed) for seed in range(3 * len(SHAPES_AND_AXES))]


def test_all_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[:15], tmp_path)


def test_both_results_occur() -> None:
    found = np.concatenate([case.outcome.arrays[0].reshape(-1) for case in CASES])
    assert found.any()
    assert not found.all()


@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
def test_mean_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("mean", MeanAttrs, tmp_path, dtype)


def test_four_separate_groups_are_refused() -> None:
    rng = np.random.default_rng(0)
    data = c.int8(rng, (2, 3, 2, 2, 3, 2), c.quant(1))
    case = c.Case("too many", "mean", MeanAttrs((0, 2, 4), False), (data,), c.quant(1))
    sums = [k for k in kernels.registry()["mean"] if k.symbol.startswith("mg_reduce_sum")]
    for kernel in sums:
        assert kernel.refusal(case.node, case.graph) == (
            "the axes reduced make 4 groups, the kernel takes 3"
        )


@pytest.mark.parametrize("is_unsigned", [False, True])
def test_sum_kernels_equal_the_reference(is_unsigned: bool, tmp_path: Path) -> None:
    def attrs(axes: Axes, keep_dims: bool) -> SumAttrs:
        return SumAttrs(axes, keep_dims, is_unsigned)

    check_kernels("sum", attrs, tmp_path)


@pytest.mark.parametrize(
    "dtype", [DType.INT16, DType.INT32, DType.FLOAT32], ids=lambda dtype: dtype.value
)
def test_kernels_of_other_dtypes_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("sum", SumAttrs, tmp_path, dtype)


@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16], ids=lambda dtype: dtype.value)
def test_product_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("prod", ProdAttrs, tmp_path, dtype)


both = pytest.mark.parametrize(("op", "attrs"), [("max", MaxAttrs), ("min", MinAttrs)])


@both
@pytest.mark.parametrize("dtype", [*FAMILIES, DType.INT32], ids=lambda dtype: dtype.value)
def test_extreme_kernels_equal_the_reference(
    dtype: DType, op: str, attrs: type[ExtremeAttrs], tmp_path: Path
) -> None:
    check_kernels(op, attrs, tmp_path, dtype, unchanged=True)


@both
def test_extreme_kernels_may_begin_at_infinity(
    op: str, attrs: type[ExtremeAttrs], tmp_path: Path
) -> None:
    make = partial(attrs, from_infinity=True)
    check_kernels(op, make, tmp_path, DType.FLOAT32, unchanged=True)


@pytest.mark.parametrize(("op", "worst"), [("max", -np.inf), ("min", np.inf)])
@pytest.mark.parametrize("from_infinity", [False, True])
def test_nothing_but_infinities_is_infinite_or_the_last_finite_value(
    from_infinity: bool, op: str, worst: float
) -> None:
    data = np.full((1, 3), worst, np.float32)
    types = ArrayType((1, 3), DType.FLOAT32), ArrayType((1,), DType.FLOAT32)
    attrs = registry()[op].attrs((1,), False, from_infinity)
    (found,) = registry()[op].reference(attrs, Operands((data,), types[:1], types[1:]))
    assert np.isinf(found[0]) == from_infinity
