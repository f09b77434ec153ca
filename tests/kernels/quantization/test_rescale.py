from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np

from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.quantization.rescale import DTYPES, PAIRS, RequantizeAttrs, RescaleAttrs
from tests.kernels.conformance import conformance as c

ROUNDINGS = {Rounding.UPWARD: "UPWARD", Rounding.NEAREST: "TONEAREST"}


def _rescale_random_values(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
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
    data = c.Tensor(ArrayType(shape, source), _rescale_random_values(rng, source, shape))
    table = np.array(scales, np.float32)
    more = () if is_one else (c.Tensor(ArrayType(table.shape, DType.FLOAT32), table, True),)
    quant = None if target is DType.INT32 else Quant(output.scale, (zero_points[1],))
    return c.Case(f"random {seed}", "qnn.rescale", attrs, (data, *more), quant, target)


def test_rescale_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([random_case(seed) for seed in range(200)], tmp_path)


def test_rescale_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([random_case(seed) for seed in range(20)], tmp_path)


def _case(name: str, data: Quant, output: Quant) -> c.Case:
    """A case of every int8 value."""
    type_ = c.int8(np.random.default_rng(0), (256,), data).type
    every = c.Tensor(type_, np.arange(-128, 128).astype(np.int8))
    return c.Case(name, "qnn.requantize", RequantizeAttrs(), (every,), output)


def _random(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    return _case(f"random {seed}", c.random_quant(rng), c.random_quant(rng))


def _flipped(source: DType, target: DType, apart: int) -> c.Case:
    """A case of every value, whose zero points are ``apart`` from being 128 apart."""
    quants = [c.of_dtype(c.quant(0.05, z), d) for d, z in ((source, -3), (target, -3 + apart))]
    array = requantize_random_values(np.random.default_rng(0), source)
    tensor = c.Tensor(ArrayType(array.shape, source, quants[0]), array)
    name = f"{source} to {target}, {apart} apart"
    return c.Case(name, "qnn.requantize", RequantizeAttrs(), (tensor,), quants[1], target)


CORNERS = (
    _case("equal quantization", c.quant(0.05, -3), c.quant(0.05, -3)),
    _case("only the zero point differs", c.quant(0.05, -3), c.quant(0.05, 9)),
    _case("only the scale differs", c.quant(0.05, -3), c.quant(0.04, -3)),
    _case("to a far smaller scale", c.quant(10, 127), c.quant(1e-6, -128)),
    _case("to a far larger scale", c.quant(1e-6, -128), c.quant(1e6, 127)),
)


WIDE = [
    (source, target)
    for source, targets in PAIRS.items()
    for target in targets
    if (source, target) != (DType.INT8, DType.INT8)
]


def requantize_random_values(rng: np.random.Generator, dtype: DType) -> Array:
    """Every value of int8 and int16. For int32, values of each magnitude and the ends."""
    limits = np.iinfo(dtype.numpy)
    if dtype is not DType.INT32:
        return np.arange(limits.min, limits.max + 1).astype(dtype.numpy)
    spread = (rng.normal(0, 1, 500) * 2.0 ** rng.uniform(0, 29, 500)).astype(np.int32)
    return np.concatenate([np.array([limits.min, 0, limits.max], np.int32), spread])


def random_wide(
    rng: np.random.Generator, source: DType, target: DType, reach: float
) -> tuple[Quant, Quant]:
    """Random quantizations of these dtypes.

    Their ranges of real values are near each other, or up to 2**reach apart.
    """
    quants = [
        c.of_dtype(c.random_quant(rng), d) if d.nbytes == 1 else Quant((0.01,), (0,))
        for d in (source, target)
    ]
    bits = 8 * (target.nbytes - source.nbytes)
    off = rng.uniform(-reach, reach) if rng.random() < 0.4 else rng.uniform(-2, 2)
    scale = float(np.float32(quants[0].scale[0] * 2.0 ** (off - bits)))
    if source is DType.INT16 is not target:
        zero_point = int(rng.choice([-32768, 0, 32767, rng.integers(-32768, 32768)]))
        quants[0] = Quant(quants[0].scale, (zero_point,))
    return quants[0], Quant((scale,), quants[1].zero_point)


def _wide(seed: int) -> c.Case:
    rng, (source, target) = np.random.default_rng(seed), WIDE[seed % len(WIDE)]
    data, output = random_wide(rng, source, target, 12)
    array = requantize_random_values(rng, source)
    tensor = c.Tensor(ArrayType(array.shape, source, data), array)
    name = f"{source} to {target} {seed}"
    return c.Case(name, "qnn.requantize", RequantizeAttrs(), (tensor,), output, target)


FLIPPED = [
    _flipped(*dtypes, apart)
    for dtypes in permutations((DType.INT8, DType.UINT8))
    for apart in (0, 1)
]


def test_requantize_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *FLIPPED, *map(_random, range(150)), *map(_wide, range(60))], tmp_path)


def test_requantize_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *FLIPPED, *map(_random, range(6)), *map(_wide, range(12))], tmp_path)
