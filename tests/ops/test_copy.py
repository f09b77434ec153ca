from pathlib import Path

import numpy as np

from microgen.ops.copy import CopyAttrs
from tests.ops import conformance as c


def _case(seed: int, shape: tuple[int, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    return c.Case(f"copy {shape}", "copy", CopyAttrs(), (c.int8(rng, shape, of),), of)


CASES = [_case(i, shape) for i, shape in enumerate([(), (1,), (7,), (2, 3, 5, 7), (1, 4000)])]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES, tmp_path)
