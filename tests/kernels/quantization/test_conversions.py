from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, DType, Quant
from microgen.graph.ops.quantization.conversions import (
    ACCEPTED,
    DEQUANTIZE_FROM,
    QUANTIZE_TO,
    CastAttrs,
    DequantizeAttrs,
    QuantizeAttrs,
)
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.every_dtype import random_array

CAST_SPECIAL = np.array(
    [
        *(0.0, -0.0, 0.9, -0.9, 1.0, -1.0, 255.9, 256),
        *(127.9, 128, -128.9, -129, 32767.9, 32768, -32768.9, -32769, 65535.9, 65536),
        *(2147483520, 2147483648, -2147483648, -2147483904, 9.2233715e18, 9.223372e18),
        *(4294967040.0, 4294967296.0, 1.8446742e19, 1.8446744e19),
        *(-9.223372e18, -9.2233731e18, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-40),
    ],
    np.float32,
)


def cast_values(rng: np.random.Generator, dtype: DType) -> Array:
    """Values of the whole range; the ends are included."""
    if dtype is DType.FLOAT32:
        magnitudes = 10.0 ** rng.uniform(-3, 20, 100)
        return np.concatenate(
            [CAST_SPECIAL, (rng.normal(0, 1, 100) * magnitudes).astype(np.float32)]
        )
    if dtype is DType.BOOL:
        return random_array(rng, (9,), dtype)
    limits = np.iinfo(dtype.numpy)
    middle = [0, 1] if dtype.numpy.kind == "u" else [-1, 0, 1]
    ends = [limits.min, limits.min + 1, *middle, limits.max - 1, limits.max]
    return np.concatenate([np.array(ends, dtype.numpy), random_array(rng, (100,), dtype)])


def _cast_case(source: DType, target: DType) -> c.Case:
    array = cast_values(np.random.default_rng(1), source)
    data = c.Tensor(ArrayType(array.shape, source), array)
    return c.Case(f"{source} to {target}", "cast", CastAttrs(), (data,), None, target)


CASES = [_cast_case(*pair) for pair in product(ACCEPTED, repeat=2)]


def test_cast_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check(CASES, tmp_path)


def test_cast_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined(CASES, tmp_path)


def random_data(rng: np.random.Generator, dtype: DType) -> tuple[ArrayType, Array]:
    """Every value of the dtype, with a scale from 1e-38 to 1e36; int8 and uint8 have a zero
    point."""
    limits = np.iinfo(dtype.numpy)
    array = np.arange(limits.min, limits.max + 1).astype(dtype.numpy)
    zero_point = int(rng.choice([-128, 127, int(rng.integers(-128, 128))]))
    scale = 10.0 ** (rng.uniform(-38, 36) if rng.random() < 0.4 else rng.uniform(-3, 0))
    quant = Quant((float(np.float32(scale)),), (zero_point,))
    return ArrayType(array.shape, dtype, c.of_dtype(quant, dtype)), array


def _dequantize_case(seed: int) -> c.Case:
    kind, array = random_data(np.random.default_rng(seed), DEQUANTIZE_FROM[seed % 3])
    data = c.Tensor(kind, array)
    name = f"{kind} {seed}"
    return c.Case(name, "qnn.dequantize", DequantizeAttrs(), (data,), None, DType.FLOAT32)


def test_dequantize_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*map(_dequantize_case, range(40))], tmp_path)


def test_dequantize_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*map(_dequantize_case, range(6))], tmp_path)


def random_output(rng: np.random.Generator, dtype: DType) -> Quant:
    """A scale from 0.001 to 1, and a zero point for int8 and uint8."""
    quant = c.random_quant(rng)
    return c.of_dtype(quant, dtype)


def quantize_values(rng: np.random.Generator, quant: Quant, dtype: DType) -> Array:
    """Multiples of half the scale, some beyond the dtype's range, their neighbours, and others."""
    most = np.iinfo(dtype.numpy).max * 1.2
    halves = np.rint(rng.uniform(-2 * most, 2 * most, 150)) * 0.5 * quant.scale[0]
    near = np.nextafter(halves.astype(np.float32), np.float32(rng.choice([-1e9, 1e9])))
    wide = rng.normal(0, 1, 50) * 10.0 ** rng.uniform(-6, 6, 50)
    return np.concatenate([halves, near, wide]).astype(np.float32)


def _quantize_case(seed: int, *special: float) -> c.Case:
    rng, dtype = np.random.default_rng(seed), QUANTIZE_TO[seed % 3]
    quant = random_output(rng, dtype)
    array = np.array(special, np.float32) if special else quantize_values(rng, quant, dtype)
    data = c.Tensor(ArrayType(array.shape, DType.FLOAT32), array)
    return c.Case(f"{dtype} {seed}", "qnn.quantize", QuantizeAttrs(), (data,), quant, dtype)


QUANTIZE_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-40, 0.49999997, -0.49999997)
CORNERS = [_quantize_case(seed, *QUANTIZE_SPECIAL) for seed in range(4)]


def test_quantize_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_quantize_case, range(100))], tmp_path)


def test_quantize_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_quantize_case, range(6))], tmp_path)
