from pathlib import Path

import numpy as np

from microgen.ops.resize2d import Resize2DAttrs
from tests.ops import conformance as c


def _case(seed: int, name: str, shape: tuple[int, ...], attrs: Resize2DAttrs) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    return c.Case(name, "image.resize2d", attrs, (c.int8(rng, shape, of),), of)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in (rng.integers(1, 3), *rng.integers(1, 9, 2), rng.integers(1, 4)))
    height, width = (int(n) for n in rng.integers(1, 18, 2))
    aligned, centred = ((False, False), (True, False), (False, True))[seed % 3]
    return _case(seed, f"random {seed}", shape, Resize2DAttrs((height, width), aligned, centred))


CORNERS = (
    _case(1, "one pixel", (1, 1, 1, 1), Resize2DAttrs((1, 1), False, False)),
    _case(2, "one pixel grows", (1, 1, 1, 2), Resize2DAttrs((3, 4), False, True)),
    _case(3, "to one pixel", (1, 5, 4, 2), Resize2DAttrs((1, 1), True, False)),
    _case(4, "one pixel of many", (1, 40, 40, 1), Resize2DAttrs((1, 1), False, True)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
