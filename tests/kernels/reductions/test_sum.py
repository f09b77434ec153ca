from pathlib import Path

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.reduction import SumAttrs
from tests.kernels.reductions.reductions import Axes, check_kernels


@pytest.mark.parametrize("is_unsigned", [False, True])
def test_kernels_equal_the_reference(is_unsigned: bool, tmp_path: Path) -> None:
    def attrs(axes: Axes, keep_dims: bool) -> SumAttrs:
        return SumAttrs(axes, keep_dims, is_unsigned)

    check_kernels("sum", attrs, tmp_path)


@pytest.mark.parametrize(
    "dtype", [DType.INT16, DType.INT32, DType.FLOAT32], ids=lambda dtype: dtype.value
)
def test_kernels_of_other_dtypes_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("sum", SumAttrs, tmp_path, dtype)
