from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, DType, Quant, TensorType
from microgen.graph.ops.quantization.rescale import DTYPES, RescaleAttrs
from tests.kernels.conformance import conformance as c

ROUNDINGS = {Rounding.UPWARD: "UPWARD", Rounding.NEAREST: "TONEAREST"}


def random_values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Values of every magnitude; both ends are included."""
    limits = np.iinfo(dtype.numpy)
    spread = rng.normal(0, 1, shape) * 2.0 ** rng.uniform(0, 8 * dtype.nbytes - 1, shape)
    values = np.clip(spread, limits.min, limits.max).astype(dtype.numpy)
    values.flat[0], values.flat[-1] = limits.min, limits.max
    return values


def random_scale(rng: np.random.Generator, near: float) -> float:
    """A scale that is equal, a power of two away, near, or far.

    If the ratio is a power of two, there are ties.
    """
    exponents = (0.0, float(rng.integers(-12, 4)), rng.uniform(-3, 3), rng.uniform(-45, 20))
    return float(np.float32(near * 2.0 ** exponents[int(rng.integers(4))]))


def random_case(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    source, target = (DTYPES[int(i)] for i in rng.integers(0, 3, 2))
    shape, axis = tuple(int(n) for n in rng.integers(1, 6, 3)), int(rng.integers(0, 3))
    shape = (*shape[:2], shape[2] + 10)
    output = c.random_quant(rng)
    zero_points = [int(rng.integers(-128, 128)), output.zero_point[0]]
    is_one = bool(rng.integers(2))
    scales = [random_scale(rng, output.scale[0]) for _ in range(1 if is_one else shape[axis])]
    attrs = RescaleAttrs(
        axis,
        scales[0] if is_one else None,
        zero_points[0],
        output.scale[0],
        zero_points[1],
        list(ROUNDINGS)[seed % 2],
    )
    data = c.Tensor(TensorType(shape, source), random_values(rng, source, shape))
    table = np.array(scales, np.float32)
    more = () if is_one else (c.Tensor(TensorType(table.shape, DType.FLOAT32), table, True),)
    quant = None if target is DType.INT32 else Quant(output.scale, (zero_points[1],))
    return c.Case(f"random {seed}", "qnn.rescale", attrs, (data, *more), quant, target)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([random_case(seed) for seed in range(200)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([random_case(seed) for seed in range(20)], tmp_path)
