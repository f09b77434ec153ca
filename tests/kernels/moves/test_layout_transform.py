import itertools
from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, tensor

ORDERS = ["".join(order) for order in itertools.permutations("NHWC")]


def _case(dtype: DType, seed: int, source: str, target: str) -> c.Case:
    rng = np.random.default_rng(seed)
    data = tensor(rng, tuple(int(n) for n in rng.integers(1, 6, 4)), dtype)
    attrs = LayoutTransformAttrs(source, target)
    return c.Case(f"{source} {target}", "layout_transform", attrs, (data,), data.type.quant, dtype)


CASES = [
    _case(DTYPES[seed % len(DTYPES)], seed, *pair)
    for seed, pair in enumerate(itertools.product(ORDERS, ["NHWC", "NCHW", "OHWI"]))
    if set(pair[0]) == set(pair[1])
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES[:8], tmp_path)
