from pathlib import Path

import pytest

from microgen.ir.graph import DType
from microgen.ops.min import MinAttrs
from tests.ops.dtypes import FAMILIES
from tests.ops.reductions import check_infinities, check_kernels


@pytest.mark.parametrize("dtype", [*FAMILIES, DType.INT32], ids=lambda dtype: dtype.value)
def test_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("min", MinAttrs, tmp_path, dtype, unchanged=True)


def test_infinities_are_kept_if_the_node_says_so(tmp_path: Path) -> None:
    check_infinities("min", MinAttrs, tmp_path)
