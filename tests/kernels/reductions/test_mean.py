from pathlib import Path

import numpy as np
import pytest

from microgen import kernels
from microgen.graph.ir.graph import DType
from microgen.graph.ops.reductions.reduction import MeanAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.dtypes import FAMILIES
from tests.kernels.reductions.reductions import check_kernels


@pytest.mark.parametrize("dtype", FAMILIES, ids=lambda dtype: dtype.value)
def test_kernels_equal_the_reference(dtype: DType, tmp_path: Path) -> None:
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
