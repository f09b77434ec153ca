from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.layouts import BroadcastToAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import DTYPES, dtype_of, tensor

Shape = tuple[int, ...]


def random_shapes(rng: np.random.Generator, most: int) -> tuple[Shape, Shape]:
    """The output's shape, and one that broadcasts to it."""
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, most + 1))))
    own = tuple(1 if rng.random() < 0.4 else n for n in shape)
    return shape, own[int(rng.integers(len(own) + 1)) :]


def _case(dtype: DType, seed: int, name: str, shape: Shape, own: Shape) -> c.Case:
    data = tensor(np.random.default_rng(seed), own, dtype)
    attrs = BroadcastToAttrs(shape)
    return c.Case(name, "broadcast_to", attrs, (data,), data.type.quant, dtype)


def _random(seed: int) -> c.Case:
    shapes = random_shapes(np.random.default_rng(1000 + seed), 6)
    return _case(dtype_of(seed), seed, f"random {seed}", *shapes)


CORNERS = [
    case
    for dtype in DTYPES
    for case in (
        _case(dtype, 1, "a scalar", (), ()),
        _case(dtype, 2, "a scalar everywhere", (3, 4), ()),
        _case(dtype, 3, "nothing changes", (3, 4), (3, 4)),
        _case(dtype, 4, "every other axis", (2, 3, 2, 3, 2, 3), (2, 1, 2, 1, 2, 1)),
    )
]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
