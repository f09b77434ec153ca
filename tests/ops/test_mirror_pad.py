from pathlib import Path

import numpy as np

from microgen.ops.base import Pair
from microgen.ops.mirror_pad import MirrorPadAttrs
from tests.ops import conformance as c


def _case(
    seed: int, name: str, shape: tuple[int, ...], pads: tuple[Pair, ...], repeats_edge: bool
) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    attrs = MirrorPadAttrs(pads, repeats_edge)
    return c.Case(name, "nn.mirror_pad", attrs, (c.int8(rng, shape, of),), of)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5))))
    edge = bool(rng.random() < 0.5)
    pads = tuple((int(a), int(b)) for a, b in (rng.integers(0, n + edge, 2) for n in shape))
    return _case(seed, f"random {seed}", shape, pads, edge)


CORNERS = (
    _case(1, "a scalar", (), (), False),
    _case(2, "nothing to pad", (1, 2, 3, 4), ((0, 0),) * 4, False),
    _case(3, "one element, repeated", (1, 1), ((1, 1), (0, 1)), True),
    _case(4, "all that may be", (2, 3), ((1, 1), (2, 2)), False),
    _case(5, "all that may be, edge repeated", (2, 3), ((2, 2), (3, 3)), True),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
