from pathlib import Path

import numpy as np

from microgen.ir.graph import Quant
from microgen.ops.requantize import RequantizeAttrs
from tests.ops import conformance as c


def _case(name: str, data: Quant, output: Quant) -> c.Case:
    """Every int8 value."""
    type_ = c.int8(np.random.default_rng(0), (256,), data).type
    every = c.Tensor(type_, np.arange(-128, 128).astype(np.int8))
    return c.Case(name, "qnn.requantize", RequantizeAttrs(), (every,), output)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    return _case(f"random {seed}", c.random_quant(rng), c.random_quant(rng))


CORNERS = (
    _case("equal quantization", c.quant(0.05, -3), c.quant(0.05, -3)),
    _case("only the zero point differs", c.quant(0.05, -3), c.quant(0.05, 9)),
    _case("only the scale differs", c.quant(0.05, -3), c.quant(0.04, -3)),
    _case("to a far smaller scale", c.quant(10, 127), c.quant(1e-6, -128)),
    _case("to a far larger scale", c.quant(1e-6, -128), c.quant(1e6, 127)),
)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)
