from pathlib import Path

import numpy as np
import pytest

from microgen.ops.softmax import SoftmaxAttrs
from tests.ops import conformance as c

OUTPUT = c.quant(1 / 256, -128)


def _case(
    seed: int,
    name: str,
    shape: tuple[int, ...] = (2, 10),
    scale: float = 0.1,
    beta: float = 1.0,
    values: tuple[int, int] = (-128, 127),
) -> c.Case:
    """``values``: the least and greatest."""
    rng = np.random.default_rng(seed)
    array = rng.integers(values[0], values[1] + 1, shape).astype(np.int8)
    x = c.int8(rng, shape, c.quant(scale, int(rng.integers(-128, 128))))
    return c.Case(name, "nn.softmax", SoftmaxAttrs(beta), (c.Tensor(x.type, array),), OUTPUT)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(1000 + seed)
    lead = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3))))
    return _case(
        seed,
        f"random {seed}",
        shape=(*lead, int(rng.integers(1, 40))),
        scale=10 ** rng.uniform(-4, 1),
        beta=float(np.float32(rng.choice([1, 0.5, 2]))),
    )


CORNERS = (
    _case(1, "one value", shape=(3, 1)),
    _case(2, "all equal", values=(5, 5)),
    _case(3, "all at the minimum", values=(-128, -128)),
    _case(4, "both extremes only", shape=(1, 2), scale=1),
    *(_case(5, f"scale {s:g}", scale=s) for s in (2e-8, 1e-6, 1e-3, 0.2, 0.25, 1, 16, 31, 32, 1e4)),
    *(_case(6, f"{n} equal values", shape=(1, n), values=(3, 3))
      for n in (255, 256, 257, 511, 512, 513, 1024, 2048, 4095)),
    _case(7, "4095 values", shape=(1, 4095), scale=1e-3),
)  # fmt: skip


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_random, range(300))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_random, range(6))], tmp_path)


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5])
def test_the_reference_is_near_the_real_softmax(scale: float) -> None:
    case = _case(8, "", shape=(50, 12), scale=scale)
    real = np.exp(case.inputs[0].array * case.inputs[0].type.scale)
    expected = real / real.sum(axis=-1, keepdims=True) * 256 - 128
    assert np.abs(np.minimum(expected, 127) - case.expected).max() <= 1
