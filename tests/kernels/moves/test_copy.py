from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.views import CopyAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, tensor


def _case(dtype: DType, shape: tuple[int, ...]) -> c.Case:
    data = tensor(np.random.default_rng(len(shape)), shape, dtype)
    return c.Case(f"copy {shape}", "copy", CopyAttrs(), (data,), data.type.quant, dtype)


SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (2, 3, 5, 7), (1, 4000)]
CASES = [_case(dtype, shape) for dtype in DTYPES for shape in SHAPES]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES, tmp_path)
