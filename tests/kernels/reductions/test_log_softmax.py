from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.reductions import row_cases

OUTPUT = c.quant(1 / 16, 127)


def _case(name: str, values: np.ndarray, scale: float) -> c.Case:
    kind = c.int8(np.random.default_rng(0), values.shape, c.quant(scale)).type
    data = c.Tensor(kind, values.astype(np.int8))
    return c.Case(name, "nn.log_softmax", LogSoftmaxAttrs(), (data,), OUTPUT)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    low, high = (-25.9, 8) if seed % 3 == 0 else (-9, 1)
    shape = (int(rng.integers(1, 4)), int(rng.choice([1, 2, 3, 10, 100, 1000])))
    least = 100 if seed % 5 == 0 else -128
    return _case(f"random {seed}", rng.integers(least, 128, shape), 2.0 ** rng.uniform(low, high))


CORNERS = (
    *(_case(f"{n} equal", np.full((1, n), 5), 0.1) for n in (*range(1, 20), 2895, 2897, 4095)),
    _case("the ends", np.array([[-128, 127], [127, -128]]), 0.1),
    _case("every value", np.arange(-128, 128), 0.05),
    _case("every value, a huge scale", np.arange(-128, 128), 1e4),
    _case("every value, the least scale", np.arange(-128, 128), 1.01 * 2.0**-26),
)


FLOATS = row_cases.float_cases("nn.log_softmax", LogSoftmaxAttrs())


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(150)), *FLOATS], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS[-4:], *map(_random, range(6)), *FLOATS[:3]], tmp_path)
