from pathlib import Path

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs
from tests.kernels.reductions.arg_extremes import DTYPES, check_kernels


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.value)
def test_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("argmax", ArgMaxAttrs, dtype, tmp_path)
