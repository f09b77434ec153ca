from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.dense.batch_matmul import OP, BatchMatmulAttrs
from microgen.graph.ops.dense.batch_matmul import scale as scale_of
from microgen.graph.ops.elementwise.broadcast import scale
from tests.kernels.conformance import conformance
from tests.kernels.conformance.litert_oracle import (
    Case,
    activation_type,
    assert_equal,
    needs_litert,
    random_activation,
    random_values,
)
from tests.kernels.dense import matmuls

UNIT = conformance.quant(1.0)
PLAIN = BatchMatmulAttrs(False, False)


def case_of(attrs: BatchMatmulAttrs, types: list[ArrayType], rng: np.random.Generator,
            output: ArrayType, constants: list[int]) -> Case:  # fmt: skip
    return Case(
        OP.name,
        attrs,
        types,
        [random_values(rng, t.shape) for t in types],
        output.quant,
        "BATCH_MATMUL",
        "BatchMatMulOptions",
        {"adjX": attrs.transpose_a, "adjY": attrs.transpose_b},
        constants=constants,
        version=2,
    )


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    attrs, *shapes, depth = matmuls.random_operands(rng)
    types = [random_activation(rng, shape) for shape in shapes]
    off = 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.4 else 0)
    scale = matmuls.output_scale(types[0].scale, types[1].scale, depth) * off
    output = activation_type((), scale, int(rng.integers(-128, 128)))
    constants = [[], [0], [1]][int(rng.integers(3))]
    return case_of(attrs, types, rng, output, constants)


@needs_litert
@pytest.mark.parametrize("block", range(8))
def test_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(random_case(seed))


def int16_case(seed: int) -> Case:
    """A case of two computed operands or one constant. Output scales are up to 2**12 off."""
    case, rng = random_case(seed), np.random.default_rng(seed)
    depth = case.types[0].shape[-2 if case.options["adjX"] else -1]
    types = [
        replace(t, dtype=DType.INT16, quant=conformance.quant(2.0 ** rng.uniform(-15, -5)))
        for t in case.types
    ]
    usual = types[0].scale * types[1].scale * 10000 * depth**0.5
    off = 2.0 ** (rng.uniform(-12, 12) if rng.random() < 0.4 else 0)
    arrays = [conformance.int16(rng, t.shape).array for t in types]
    quant = conformance.quant(usual * off)
    return replace(case, types=types, arrays=arrays, output_quant=quant, output_dtype=DType.INT16)


@needs_litert
@pytest.mark.parametrize("block", range(4))
def test_int16_equals_litert(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        assert_equal(int16_case(seed))


@needs_litert
def test_float_equals_litert() -> None:
    for seed in range(200):
        case, rng = random_case(seed), np.random.default_rng(seed)
        arrays = [rng.normal(0, 10 ** rng.uniform(-2, 2), t.shape) for t in case.types]
        types = [ArrayType(t.shape, DType.FLOAT32) for t in case.types]
        floats = [a.astype(np.float32) for a in arrays]
        assert_equal(
            replace(case, types=types, arrays=floats, output_quant=None, output_dtype=DType.FLOAT32)
        )


@needs_litert
@pytest.mark.parametrize("times", [1.01, 1.5, 1e3, 1e9, 1e15])
def test_extreme_output_scales(times: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        types = [activation_type((9, 9), 2.0 ** rng.uniform(-9, 1), zero) for zero in (-128, 127)]
        least = 9 * 255 * 255 * types[0].scale * types[1].scale / 2**31
        output = activation_type((), least * times, 0)
        assert_equal(case_of(PLAIN, types, rng, output, []))


@needs_litert
def test_the_product_of_the_scales_is_rounded_to_float32() -> None:
    depth, found = 1000, 0
    sums = np.array(depth * 255 * 255)
    rng = np.random.default_rng(1)
    for _ in range(300):
        lhs, rhs = (
            activation_type(shape, 2.0 ** rng.uniform(-9, 1), -128)
            for shape in ((1, depth), (depth, 1))
        )
        output = activation_type((), lhs.scale * rhs.scale * float(sums) / 100.5, 0)
        in_double = quantize_multiplier(lhs.scale * rhs.scale / output.scale)
        if scale(sums, *in_double) == scale(sums, *scale_of(PLAIN, lhs, rhs, output)):
            continue
        case = case_of(PLAIN, [lhs, rhs], rng, output, [])
        assert_equal(replace(case, arrays=[np.full(t.shape, 127, np.int8) for t in case.types]))
        found += 1
    assert found > 10


@pytest.mark.parametrize(
    ("lhs", "rhs", "attrs", "sentence"),
    [
        ((2, 3), (4, 5), PLAIN, r"rows of int8\[2,3\] have 3 elements and columns of .* 4; they"),
        ((2, 3), (3, 5), BatchMatmulAttrs(True, False), "have 2 elements"),
        ((2, 3), (3, 5), BatchMatmulAttrs(False, True), "elements and columns of .* 5; they must"),
        ((3,), (3, 5), PLAIN, r"the operand int8\[3\] must have from 2 to 5 dimensions"),
        ((2, 3), (1, 1, 1, 1, 3, 5), PLAIN, "must have from 2 to 5 dimensions"),
        ((2, 4, 3), (3, 3, 5), PLAIN, "the leading dimensions of .* do not broadcast"),
    ],
)  # fmt: skip
def test_impossible_shapes(
    lhs: tuple[int, ...], rhs: tuple[int, ...], attrs: BatchMatmulAttrs, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        OP.infer(attrs, [ArrayType(lhs, DType.INT8), ArrayType(rhs, DType.INT8)])


def test_two_operands_are_expected() -> None:
    with pytest.raises(ValueError, match="3 inputs; two are expected"):
        OP.infer(PLAIN, [ArrayType((1, 1), DType.INT8)] * 3)


def test_refusals() -> None:
    def said(depth: int, out: float, lhs_zero: int = 0) -> str:
        lhs, rhs = (
            activation_type((1, depth), 1.0, lhs_zero),
            activation_type((depth, 1), 1.0, -128),
        )
        return str(OP.check(PLAIN, [lhs, rhs], [activation_type((1, 1), out, 0)]))

    def said16(depth: int, out: float) -> str:
        types = [ArrayType(s, DType.INT16, UNIT) for s in ((1, depth), (depth, 1))]
        output = ArrayType((1, 1), DType.INT16, conformance.quant(out))
        return str(OP.check(PLAIN, types, [output]))

    data, wrong = activation_type((1, 1), 1.0, 0), ArrayType((1, 1), DType.INT32)
    assert "the right input is int32[1,1]" in str(OP.check(PLAIN, [data, wrong], [data]))
    assert said(33025, 1e6, -128) == "None"
    assert "33026 products are summed" in said(33026, 1e6, -128)
    assert said(100, 0.0016) == "None"
    assert "the output's scale is too small: sums of up to 3264000" in said(100, 0.0015)
    assert "is 2**30 or more" in said(1, 2.0**-31)
    assert said16(131071, 1) == "None"
    assert "131072 products are summed" in said16(131072, 1)
    assert "sums are scaled by 8192; it must be less" in said16(1, 2.0**-13)
