from functools import partial
from pathlib import Path

import numpy as np
import pytest

from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.base import Operands
from microgen.graph.ops.reductions.extremes import MaxAttrs, max_reference
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.reductions.reductions import check_kernels


@pytest.mark.parametrize("dtype", [*FAMILIES, DType.INT32], ids=lambda dtype: dtype.value)
def test_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
    check_kernels("max", MaxAttrs, tmp_path, dtype, unchanged=True)


def test_kernels_may_begin_at_infinity(tmp_path: Path) -> None:
    make = partial(MaxAttrs, from_infinity=True)
    check_kernels("max", make, tmp_path, DType.FLOAT32, unchanged=True)


@pytest.mark.parametrize("from_infinity", [False, True])
def test_nothing_but_infinities_is_infinite_or_the_last_finite_value(from_infinity: bool) -> None:
    data = np.full((1, 3), -np.inf, np.float32)
    types = TensorType((1, 3), DType.FLOAT32), TensorType((1,), DType.FLOAT32)
    attrs = MaxAttrs((1,), False, from_infinity)
    (found,) = max_reference(attrs, Operands((data,), types[:1], types[1:]))
    assert np.isinf(found[0]) == from_infinity
