"""Values of hybrid layers, for the tests of their references and of their kernels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from microgen.graph.ir.graph import ArrayType, DType, Quant
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance import litert_oracle
from tests.support.arrays import assert_same
from tests.support.tflite_builder import OptionValue

Shape = tuple[int, ...]


def inputs(
    rng: np.random.Generator,
    data: Shape,
    weight: Shape,
    axis: int,
    *,
    per_channel: bool,
    biased: bool = True,
) -> tuple[c.Tensor, ...]:
    """float32 data, int8 weights, and a float32 bias of the products' magnitude."""
    x = values(rng, data)
    w = rng.integers(-127, 128, weight).astype(np.int8)
    scales = (10 ** rng.uniform(-3, -1, weight[axis] if per_channel else 1)).astype(np.float32)
    quant = Quant(tuple(map(float, scales)), (0,) * scales.size, axis if scales.size > 1 else None)
    size = float(np.abs(x.array).max()) * float(scales.max()) * 75
    bias = c.float32(rng, (weight[axis],), size, is_constant=True)
    made = (x, c.Tensor(ArrayType(weight, DType.INT8, quant), w, is_constant=True), bias)
    return made if biased else made[:2]


def values(rng: np.random.Generator, shape: Shape) -> c.Tensor:
    """Values of any magnitude and mean.

    They are often all zero, of one sign, or in a range whose zero point is a tie, with values that
    are ties, too.
    """
    kind = int(rng.integers(8))
    scale = 10 ** rng.uniform(-3, 3)
    array = rng.normal(rng.normal(), 1, shape) * scale
    if kind == 0:
        array = np.abs(array)
    elif kind == 1:
        array = -np.abs(array)
    elif kind == 2:
        array = np.zeros(shape)
    elif kind in (3, 4):
        low = int(rng.integers(1, 255))
        array = (rng.integers(-2 * low, 512 - 2 * low, shape) / 2).clip(-low - 0.5, 254.5 - low)
        array.reshape(-1)[:2] = (-low - 0.5, 254.5 - low)[: array.size]
        array *= 2.0 ** rng.integers(-8, 8)
    elif kind == 5:
        array = rng.choice([-1.0, 0.0, 0.5, 1.0], shape)
    return c.Tensor(ArrayType(shape, DType.FLOAT32), array.astype(np.float32))


def assert_equals_litert(
    case: c.Case, code: str, options_type: str, options: Mapping[str, OptionValue]
) -> None:
    """Checks that the reference equals LiteRT bit for bit, except for the sign of zeros.

    A value that is rounded differently would change the result by whole steps, and a scale that is
    computed in another order would change its last bit.
    """
    oracle = litert_oracle.Case(
        case.op,
        case.attrs,
        case.input_types,
        [tensor.array for tensor in case.inputs],
        None,
        code,
        options_type,
        options,
        constants=range(1, len(case.inputs)),
        version=9 if code == "FULLY_CONNECTED" else 5,
        output_dtype=DType.FLOAT32,
    )
    ours, theirs = litert_oracle.by_reference(oracle), litert_oracle.by_litert(oracle)
    assert_same(ours, theirs, case)
