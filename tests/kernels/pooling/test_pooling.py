from __future__ import annotations

import functools
from pathlib import Path

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.pooling.pools import check_kernels


@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
def test_avg_pool2d_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("nn.avg_pool2d", AvgPool2DAttrs, dtype, tmp_path)


def test_kernels_that_round_halves_upwards_equal_the_reference(tmp_path: Path) -> None:
    upward = functools.partial(AvgPool2DAttrs, ties_upward=True)
    check_kernels("nn.avg_pool2d", upward, DType.INT8, tmp_path)


@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
def test_max_pool2d_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("nn.max_pool2d", MaxPool2DAttrs, dtype, tmp_path)
