from pathlib import Path

import numpy as np

from microgen.ops.base import Activation, Padding, Pair
from microgen.ops.max_pool2d import MaxPool2DAttrs
from tests.ops import conformance as c


def _case(
    seed: int,
    name: str,
    data: tuple[int, int, int, int] = (1, 5, 6, 4),
    pool: Pair = (2, 3),
    strides: Pair = (1, 1),
    padding: Padding = "SAME",
    activation: Activation = Activation.NONE,
) -> c.Case:
    rng = np.random.default_rng(seed)
    of = c.random_quant(rng)
    attrs = MaxPool2DAttrs(pool, strides, padding, activation)
    return c.Case(name, "nn.max_pool2d", attrs, (c.int8(rng, data, of),), of)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    pool = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    size = (pool[0] + int(rng.integers(0, 6)), pool[1] + int(rng.integers(0, 6)))
    top, left, bottom, right = (int(rng.integers(0, n)) for n in (*pool, *pool))
    paddings: list[Padding] = [(top, left, bottom, right), "SAME", "VALID"]
    return _case(
        seed,
        f"random {seed}",
        data=(int(rng.integers(1, 3)), *size, int(rng.integers(1, 6))),
        pool=pool,
        strides=(int(rng.integers(1, 6)), int(rng.integers(1, 6))),
        padding=paddings[seed % 3],
        activation=list(Activation)[int(rng.integers(4))],
    )


CORNERS = (
    _case(1, "1x1 image", data=(1, 1, 1, 3), pool=(3, 3)),
    _case(2, "1x1 pool", pool=(1, 1)),
    _case(3, "global", data=(1, 7, 5, 9), pool=(7, 5), padding="VALID"),
    _case(4, "stride over pool", data=(1, 9, 8, 4), pool=(2, 2), strides=(4, 5), padding="VALID"),
    _case(5, "pads as large as they may be", pool=(3, 3), padding=(2, 2, 2, 2)),
    _case(6, "relu", activation=Activation.RELU),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
