from pathlib import Path

import pytest

from microgen.graph.ir.graph import DType
from microgen.graph.ops.pooling.pooling import MaxPool2DAttrs
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.pooling.pools import check_kernels


@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
def test_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("nn.max_pool2d", MaxPool2DAttrs, dtype, tmp_path)
