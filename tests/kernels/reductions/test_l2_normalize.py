from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Quant
from microgen.graph.ops.reductions.l2_normalize import L2NormalizeAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.reductions import row_cases

UNIT = Quant((1 / 128,), (0,))


def _case(name: str, tensor: c.Tensor) -> c.Case:
    return c.Case(name, "nn.l2_normalize", L2NormalizeAttrs(), (tensor,), UNIT)


def _filled(name: str, value: int, zero_point: int, shape: tuple[int, ...]) -> c.Case:
    of = c.quant(1, zero_point)
    type_ = c.int8(np.random.default_rng(0), shape, of).type
    return _case(name, c.Tensor(type_, np.full(shape, value, np.int8)))


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(1, 5))))
    return _case(f"random {seed}", c.int8(rng, shape, c.random_quant(rng)))


CORNERS = (
    _filled("zeros", 3, 3, (2, 5)),
    _filled("a square of 1", 4, 3, (1, 1)),
    _filled("the largest sum", -128, 127, (1, 33025)),
    _filled("sums at the halving", -128, 127, (1, 8257)),
    *(_filled(f"{n} ones", 1, 0, (1, n)) for n in (2, 3, 4, 5, 16, 17)),
)


FLOATS = row_cases.float_cases("nn.l2_normalize", L2NormalizeAttrs())


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150)), *FLOATS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6)), *FLOATS[:3]], tmp_path)
