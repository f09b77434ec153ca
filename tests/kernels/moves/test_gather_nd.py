from pathlib import Path

import numpy as np

from microgen import kernels
from microgen.graph.ir.graph import DType, TensorType
from microgen.graph.ops.moves.indexed import GATHER_ND, GatherNdAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor

Shape = tuple[int, ...]


def _case(seed: int, dtype: DType, shape: Shape, counts: Shape, depth: int, over: int) -> c.Case:
    """A case whose indices are up to ``over`` outside of each end."""
    rng = np.random.default_rng(seed)
    data = tensor(rng, shape, dtype)
    values = rng.integers(-over, np.array(shape[:depth]) + over, (*counts, depth))
    indices = c.Tensor(TensorType(values.shape, DType.INT32), values.astype(np.int32))
    name = f"{values.shape} of {shape}, {over} over"
    inputs, attrs = (data, indices), GatherNdAttrs()
    return c.Case(name, GATHER_ND.name, attrs, inputs, data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    counts = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3))))
    depth, over = int(rng.integers(1, len(shape) + 1)), int(rng.random() < 0.2)
    return _case(seed, dtype_of(seed), shape, counts, depth, over)


CORNERS = [
    _case(1, dtype, *one)
    for dtype in DTYPES
    for one in (
        ((1,), (), 1, 0),
        ((5, 3), (4,), 2, 0),
        ((2, 3, 4, 5), (2, 3), 3, 0),
        ((2, 2, 1, 2, 1, 2, 2, 2), (7,), 8, 0),
        ((2, 3), (20,), 2, 1),
    )
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


def test_random_cases_have_indices_outside() -> None:
    statuses = [_random(seed).outcome.status for seed in range(100)]
    assert 5 < statuses.count(0x0803) < 40
    assert statuses.count(0) > 60


def test_more_than_eight_axes_are_refused() -> None:
    case = _case(0, DType.INT32, (1,) * 9, (), 9, 0)
    (kernel,) = kernels.registry()[GATHER_ND.name]
    assert kernel.refusal(case.node, case.graph) == "9 axes have indices, the kernel takes 8"
