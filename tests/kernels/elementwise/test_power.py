from pathlib import Path

import numpy as np

from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops.elementwise.product import POWER, PowerAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.plain_integers import case

SPECIAL = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 2.5, -3.0, 1e-45, 1e-30, 3e38),
        *(np.inf, -np.inf, np.nan, 1.0000001, 0.99999994, 128.0, -127.5, 8388609.0, -1e10),
    ],
    np.float32,
)


def floats(name: str, lhs: Array, rhs: Array) -> c.Case:
    """A case of float32."""
    arrays = [np.ascontiguousarray(array, np.float32) for array in (lhs, rhs)]
    inputs = tuple(c.Tensor(TensorType(a.shape, DType.FLOAT32), a) for a in arrays)
    return c.Case(name, POWER.name, PowerAttrs(), inputs, None, DType.FLOAT32)


def float_cases(count: int) -> list[c.Case]:
    """Pairs of special numbers, one by one, then pairs of usual results."""
    rng = np.random.default_rng(0)
    found = [floats(f"{x} {y}", np.array([x]), np.array([y])) for x in SPECIAL for y in SPECIAL]
    for seed in range(count):
        base = np.exp(rng.normal(0, 2.0 ** rng.uniform(-8, 5), 1))
        found.append(floats(f"random {seed}", base, rng.normal(0, 60, 1) / np.log(base)))
    return found


def integer_cases(count: int) -> list[c.Case]:
    """``count`` cases of int32 and of int64."""
    dtypes = (DType.INT32, DType.INT64)
    return [
        case(seed, POWER.name, PowerAttrs(), dtype) for dtype in dtypes for seed in range(count)
    ]


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    c.check([*float_cases(300), *integer_cases(30)], tmp_path)


def test_inlined_bodies_equal_the_reference(tmp_path: Path) -> None:
    c.check_inlined([*float_cases(0)[:2], *integer_cases(2)], tmp_path)
