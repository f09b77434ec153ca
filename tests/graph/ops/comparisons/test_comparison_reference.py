from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import registry
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from tests.kernels.comparisons.comparisons import OPERATORS, PAIRS, QUANTIZED
from tests.kernels.conformance import conformance as c
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
)
from tests.kernels.elementwise import broadcasting

ATTRS = ComparisonAttrs()


def compared(op: str, lhs: c.Tensor, rhs: c.Tensor) -> Case:
    code, options = OPERATORS[op]
    return Case(
        op,
        ATTRS,
        [lhs.type, rhs.type],
        [lhs.array, rhs.array],
        None,
        code,
        options,
        version=2,
        output_dtype=DType.BOOL,
    )


def random_case(seed: int, op: str, dtype: DType) -> Case:
    """A case in which half of the right values equal the left ones if the shapes are equal."""
    rng = np.random.default_rng(seed)
    shapes = broadcasting.random_shapes(rng)
    lhs, rhs = (broadcasting.operand(rng, dtype, shape) for shape in shapes)
    if dtype in QUANTIZED:
        lhs, rhs = (below_one(rng, each) for each in (lhs, rhs))
    if shapes[0] == shapes[1]:
        same = np.where(rng.random(shapes[0]) < 0.5, lhs.array, rhs.array)
        rhs = c.Tensor(rhs.type, same.astype(dtype.numpy))
    return compared(op, lhs, rhs)


def below_one(rng: np.random.Generator, operand: c.Tensor) -> c.Tensor:
    """The operand with a scale below 1, which the op can compare."""
    of = c.quant(0.999 * 2.0 ** rng.uniform(-34, 0), operand.type.zero_point)
    return c.Tensor(dataclasses.replace(operand.type, quant=of), operand.array)


@needs_litert
@pytest.mark.parametrize(("op", "dtype"), PAIRS)
def test_equals_litert(op: str, dtype: DType) -> None:
    for seed in range(40):
        assert_equal(random_case(seed, op, dtype))


@needs_litert
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("scales", [(0.5, 0.25), (0.02, 0.02), (0.003, 0.7), (1e-5, 1 - 2**-24)])
def test_every_pair_of_int8_values(op: str, scales: tuple[float, float]) -> None:
    values = np.arange(-128, 128, dtype=np.int8)
    for points in ((0, 0), (-128, 127), (127, -128), (3, -5)):
        lhs = c.Tensor(activation_type((256, 1), scales[0], points[0]), values[:, None])
        rhs = c.Tensor(activation_type((256,), scales[1], points[1]), values)
        assert_equal(compared(op, lhs, rhs))


@needs_litert
@pytest.mark.parametrize("op", OPERATORS)
def test_infinities_nan_and_zeros_of_either_sign(op: str) -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)

    def tensor(array: Array) -> c.Tensor:
        return c.Tensor(ArrayType(array.shape, DType.FLOAT32), array)

    assert_equal(compared(op, tensor(values[:, None]), tensor(values)))


@needs_litert
@pytest.mark.parametrize("op", OPERATORS)
def test_int16_of_several_scales(op: str) -> None:
    rng = np.random.default_rng(1)
    for scale in (2.0**-15, 0.01, 0.3):
        kinds = [ArrayType((4000,), DType.INT16, c.quant(each)) for each in (scale, 2 * scale)]
        small = rng.integers(-(2**14), 2**14, 4000).astype(np.int16)
        near = (2 * small + rng.integers(-1, 2, 4000)).astype(np.int16)
        assert_equal(compared(op, c.Tensor(kinds[0], near), c.Tensor(kinds[1], small)))


def types(dtype: DType, scale: float | None = None) -> ArrayType:
    return ArrayType((2,), dtype, c.quant(scale) if scale else None)


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "output", "sentence"),
    [
        ("less", types(DType.BOOL), types(DType.BOOL), types(DType.BOOL), "left input is bool"),
        ("less", types(DType.INT32), types(DType.INT64), types(DType.BOOL), "right input is int64"),
        ("equal", types(DType.INT32), types(DType.INT32), types(DType.INT32), "output is int32"),
        (
            *("equal", types(DType.INT8, 0.1), types(DType.INT8), types(DType.BOOL)),
            "must have one scale",
        ),
        ("equal", types(DType.INT8, 1.0), types(DType.INT8, 0.1), types(DType.BOOL), "scale 1;"),
        ("equal", types(DType.INT16, 1.0), types(DType.INT16, 0.1), types(DType.BOOL), "scale 1;"),
        ("equal", types(DType.INT8, 0.1), types(DType.INT8, 2.5), types(DType.BOOL), "scale 2.5;"),
    ],
)
def test_refusals(
    op: str, lhs: ArrayType, rhs: ArrayType, output: ArrayType, sentence: str
) -> None:
    assert sentence in str(registry()[op].check(ATTRS, [lhs, rhs], [output]))
