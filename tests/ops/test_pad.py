from pathlib import Path

import numpy as np

from microgen.ops.base import Pair
from microgen.ops.pad import PadAttrs
from tests.ops import conformance as c


def _case(seed: int, name: str, shape: tuple[int, ...], pads: tuple[Pair, ...]) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    attrs = PadAttrs(pads, int(rng.choice([-128, 127, 0, int(rng.integers(-128, 128))])))
    return c.Case(name, "nn.pad", attrs, (c.int8(rng, shape, of),), of)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
    pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 4, (len(shape), 2)))
    return _case(seed, f"random {seed}", shape, pads)


CORNERS = (
    _case(1, "nothing to pad", (1, 2, 3, 4), ((0, 0),) * 4),
    _case(2, "one element", (1, 1, 1, 1), ((2, 0), (0, 3), (1, 1), (0, 0))),
    _case(3, "before only", (2, 3), ((2, 0), (1, 0))),
    _case(4, "after only", (2, 3), ((0, 2), (0, 1))),
    _case(5, "every axis", (2, 3, 2, 3), ((1, 2), (2, 1), (1, 1), (2, 2))),
    _case(6, "a scalar", (), ()),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
