from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, DType, Quant, TensorType
from microgen.graph.ops.quantization.conversions import DEQUANTIZE_FROM, DequantizeAttrs
from tests.kernels.conformance import conformance as c


def random_data(rng: np.random.Generator, dtype: DType) -> tuple[TensorType, Array]:
    """Every value of the dtype, with a scale from 1e-38 to 1e36; int8 and uint8 have a zero
    point."""
    limits = np.iinfo(dtype.numpy)
    array = np.arange(limits.min, limits.max + 1).astype(dtype.numpy)
    zero_point = int(rng.choice([-128, 127, int(rng.integers(-128, 128))]))
    scale = 10.0 ** (rng.uniform(-38, 36) if rng.random() < 0.4 else rng.uniform(-3, 0))
    quant = Quant((float(np.float32(scale)),), (zero_point,))
    return TensorType(array.shape, dtype, c.of_dtype(quant, dtype)), array


def _case(seed: int) -> c.Case:
    kind, array = random_data(np.random.default_rng(seed), DEQUANTIZE_FROM[seed % 3])
    data = c.Tensor(kind, array)
    name = f"{kind} {seed}"
    return c.Case(name, "qnn.dequantize", DequantizeAttrs(), (data,), None, DType.FLOAT32)


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*map(_case, range(40))], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*map(_case, range(6))], tmp_path)
