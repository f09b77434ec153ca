from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, DType, Quant, TensorType
from microgen.graph.ops.quantization.conversions import QUANTIZE_TO, QuantizeAttrs
from tests.kernels.conformance import conformance as c


def random_output(rng: np.random.Generator, dtype: DType) -> Quant:
    """A scale from 0.001 to 1, and a zero point for int8 and uint8."""
    quant = c.random_quant(rng)
    return c.of_dtype(quant, dtype)


def values(rng: np.random.Generator, quant: Quant, dtype: DType) -> Array:
    """Multiples of half the scale, some beyond the dtype's range, their neighbours, and others."""
    most = np.iinfo(dtype.numpy).max * 1.2
    halves = np.rint(rng.uniform(-2 * most, 2 * most, 150)) * 0.5 * quant.scale[0]
    near = np.nextafter(halves.astype(np.float32), np.float32(rng.choice([-1e9, 1e9])))
    wide = rng.normal(0, 1, 50) * 10.0 ** rng.uniform(-6, 6, 50)
    return np.concatenate([halves, near, wide]).astype(np.float32)


def _case(seed: int, *special: float) -> c.Case:
    rng, dtype = np.random.default_rng(seed), QUANTIZE_TO[seed % 3]
    quant = random_output(rng, dtype)
    array = np.array(special, np.float32) if special else values(rng, quant, dtype)
    data = c.Tensor(TensorType(array.shape, DType.FLOAT32), array)
    return c.Case(f"{dtype} {seed}", "qnn.quantize", QuantizeAttrs(), (data,), quant, dtype)


SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-40, 0.49999997, -0.49999997)
CORNERS = [_case(seed, *SPECIAL) for seed in range(4)]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*CORNERS, *map(_case, range(100))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*CORNERS, *map(_case, range(6))], tmp_path)
