"""Cases of kernels for MVE and DSP without weights: sums of two operands, products of matrices, and
pools."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType
from microgen.graph.ops.base import Padding
from microgen.graph.ops.elementwise.addition import (
    AddAttrs,
    SquaredDifferenceAttrs,
    SubtractAttrs,
)
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs, MaxPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from tests.kernels.conformance import conformance as c
from tests.kernels.dense import matmuls

Shape = tuple[int, ...]
SIZES = range(1, 36)
BROADCASTS: tuple[tuple[Shape, Shape], ...] = (
    ((3, 7), (7,)),
    ((5,), (4, 5)),
    ((4, 9), (4, 1)),
    ((3, 1), (3, 18)),
    ((1,), (21,)),
    ((2, 16), (1, 1)),
)


def _sum(seed: int, lhs: Shape, rhs: Shape) -> c.Case:
    """A sum or a difference of usual scales, for which there is an affine form."""
    rng = np.random.default_rng(seed)
    operands = tuple(c.int8(rng, shape, c.random_quant(rng)) for shape in (lhs, rhs))
    scale = sum(operand.type.scale for operand in operands) * float(2.0 ** rng.uniform(-1, 1))
    zero = int(rng.choice([-128, 127, *rng.integers(-128, 128, 3)]))
    activation = list(Activation)[int(rng.integers(4))]
    op, kind = (("add", AddAttrs), ("subtract", SubtractAttrs))[seed % 2]
    return c.Case(f"{op} {seed}", op, kind(activation), operands, c.quant(scale, zero))


# Scales of two operands and a sum of which no affine function is exact, for most zero points.
INEXACT = (
    (0.30461353063583374, 0.752474844455719, 0.7710754871368408),
    (0.0191679447889328, 0.014140278100967407, 0.04664546251296997),
    (0.03216072544455528, 0.08493209630250931, 0.06021089106798172),
    (0.17182882130146027, 0.21075846254825592, 0.2633458971977234),
    (0.015783008188009262, 0.0011842211242765188, 0.024682484567165375),
)


def _inexact(seed: int, lhs: Shape, rhs: Shape) -> c.Case:
    """A sum or a difference that is rounded as specified."""
    rng = np.random.default_rng(seed)
    *scales, scale = INEXACT[seed % len(INEXACT)]
    zeros = [int(zero) for zero in rng.integers(-128, 128, 3)]
    quants = [c.quant(each, zero) for each, zero in zip(scales, zeros[1:], strict=True)]
    operands = tuple(c.int8(rng, shape, q) for shape, q in zip((lhs, rhs), quants, strict=True))
    activation = list(Activation)[seed % 4] if seed % 3 else Activation.NONE
    op, kind = (("add", AddAttrs), ("subtract", SubtractAttrs))[seed % 2]
    return c.Case(f"{op}, inexact {seed}", op, kind(activation), operands, c.quant(scale, zeros[0]))


def _square(seed: int, lhs: Shape, rhs: Shape) -> c.Case:
    """A squared difference; every third one of operands with equal scales, which are halved."""
    rng = np.random.default_rng(seed)
    quants = [c.random_quant(rng) for _ in range(2)]
    if seed % 3 == 0:
        quants[1] = c.quant(quants[0].scale[0], quants[1].zero_point[0])
    operands = tuple(c.int8(rng, shape, q) for shape, q in zip((lhs, rhs), quants, strict=True))
    scale = max(quant.scale[0] for quant in quants) ** 2 * float(2.0 ** rng.uniform(-4, 8))
    zero = int(rng.choice([-128, 127, *rng.integers(-128, 128, 3)]))
    attrs = SquaredDifferenceAttrs()
    return c.Case(f"square {seed}", "squared_difference", attrs, operands, c.quant(scale, zero))


def _pool(seed: int) -> c.Case:
    """A pool of any size, with odd numbers of channels, seldom beyond the input."""
    rng = np.random.default_rng(seed)
    kernel = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    height, width = (k + int(rng.integers(0, 4)) for k in kernel)
    strides = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    padding: Padding = "SAME" if rng.integers(3) == 0 else "VALID"
    shape = (int(rng.integers(1, 3)), height, width, 1 + seed % 40)
    data = c.int8(rng, shape, c.random_quant(rng))
    activation = list(Activation)[int(rng.integers(4))]
    quant = data.type.quant
    if seed % 2:
        attrs = MaxPool2DAttrs(kernel, strides, padding, activation)
        return c.Case(f"max {seed}", "nn.max_pool2d", attrs, (data,), quant)
    mean = AvgPool2DAttrs(kernel, strides, padding, activation, bool(rng.integers(2)))
    return c.Case(f"avg {seed}", "nn.avg_pool2d", mean, (data,), quant)


def _extreme_pool(value: int) -> c.Case:
    """The largest sums: all of 256 values are the same."""
    data = c.Tensor(
        ArrayType((1, 16, 16, 21), DType.INT8, c.quant(0.1, 3)),
        np.full((1, 16, 16, 21), value, np.int8),
    )
    attrs = AvgPool2DAttrs((16, 16), (1, 1), "VALID", Activation.NONE)
    return c.Case(f"all {value}", "nn.avg_pool2d", attrs, (data,), data.type.quant)


def _extreme_clipped(value: int, *, ties_upward: bool) -> c.Case:
    """The same of clipped windows: the most values are 128."""
    data = c.Tensor(
        ArrayType((1, 9, 17, 21), DType.INT8, c.quant(0.1, 3)),
        np.full((1, 9, 17, 21), value, np.int8),
    )
    attrs = AvgPool2DAttrs((8, 16), (1, 1), "SAME", Activation.NONE, ties_upward)
    name = f"clipped {value} {ties_upward}"
    return c.Case(name, "nn.avg_pool2d", attrs, (data,), data.type.quant)


def int16_sum(seed: int) -> c.Case:
    """A sum or a difference of int16 values of the whole range, with any activation: one row or
    several, of which one operand may have only one. At times both scales are the same."""
    rng = np.random.default_rng(seed)
    size, rows = 1 + seed % 19, 1 + seed % 3
    shapes = [(rows, size), (rows, size)]
    if seed % 5 == 0:
        shapes[seed % 2] = (1, size)
    scale = 10 ** rng.uniform(-5, -2)
    scales = scale * 2.0 ** rng.uniform(-6, 0, 2) if seed % 4 else (scale, scale)
    operands = []
    for shape, each in zip(shapes, scales, strict=True):
        values = rng.integers(-(2**15), 2**15, shape)
        ends = rng.integers(0, 4, shape)
        values = np.where(ends == 0, rng.choice([-(2**15), 2**15 - 1, 0, -1, 1], shape), values)
        kind = ArrayType(shape, DType.INT16, c.quant(float(each)))
        operands.append(c.Tensor(kind, values.astype(np.int16)))
    output = c.quant(float(sum(scales) * 2.0 ** rng.uniform(-3, 1)))
    activation = list(Activation)[int(rng.integers(4))]
    op, attrs = (("add", AddAttrs), ("subtract", SubtractAttrs))[seed // 2 % 2]
    return c.Case(f"int16 {op} {seed}", op, attrs(activation), tuple(operands), output, DType.INT16)


def int16_pool(seed: int) -> c.Case:
    """A maximum or a mean of int16 values, whose windows may be at the border."""
    rng = np.random.default_rng(seed)
    channels = 1 + seed % 21
    shape = (1 + seed % 2, *(int(n) for n in rng.integers(4, 9, 2)), channels)
    values = rng.choice(np.array([-(2**15), 2**15 - 1, 0, 1, -1]), shape)
    if seed % 7 == 1:  # the largest sums
        shape = (1, 16, 16, channels)
        values = np.full(shape, -(2**15) if seed % 2 else 2**15 - 1)
    elif seed % 3:
        values = rng.integers(-(2**15), 2**15, shape)
    quant = c.quant(0.25)
    data = c.Tensor(ArrayType(shape, DType.INT16, quant), values.astype(np.int16))
    size = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    size = (16, 16) if seed % 7 == 1 else size
    strides = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    padding: Padding = "SAME" if seed % 4 < 2 else "VALID"
    activation = list(Activation)[int(rng.integers(4))]
    op, attrs = (("max", MaxPool2DAttrs), ("avg", AvgPool2DAttrs))[seed % 2]
    of = attrs(size, strides, padding, activation)
    return c.Case(f"int16 {op} {seed}", f"nn.{op}_pool2d", of, (data,), quant, DType.INT16)


def _mean(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 3)), int(rng.integers(1, 9)), int(rng.integers(1, 9)), 1 + seed)
    data = c.int8(rng, shape, c.random_quant(rng))
    out = c.quant(data.type.scale * float(2.0 ** rng.uniform(-2, 1)), int(rng.integers(-128, 128)))
    return c.Case(f"mean {seed}", "mean", MeanAttrs((1, 2), False), (data,), out)


def reduced(seed: int) -> c.Case:
    """A mean over some axes, at times of more than 255 values, whose sums do not fit int16."""
    rng = np.random.default_rng(seed)
    long = 520 if seed % 6 == 0 else 9
    shape = (int(rng.integers(1, 3)), int(rng.integers(1, long)), 1 + int(rng.integers(0, 40)))
    data = c.int8(rng, shape, c.random_quant(rng))
    if seed % 4 == 0:
        data = c.Tensor(data.type, np.full(shape, (-128, 127)[seed % 8 // 4], np.int8))
    out = c.quant(data.type.scale * float(2.0 ** rng.uniform(-9, 9)), int(rng.integers(-128, 128)))
    axes = ((1,), (2,), (0, 1), (1, 2))[seed % 4]
    return c.Case(f"reduced {seed}", "mean", MeanAttrs(axes, False), (data,), out)


def _product(seed: int, lhs: Shape, rhs: Shape) -> c.Case:
    """A product of usual scales."""
    rng = np.random.default_rng(seed)
    operands = tuple(c.int8(rng, shape, c.random_quant(rng)) for shape in (lhs, rhs))
    scale = operands[0].type.scale * operands[1].type.scale * float(2.0 ** rng.uniform(-2, 14))
    zero = int(rng.choice([-128, 127, *rng.integers(-128, 128, 3)]))
    attrs = MultiplyAttrs(list(Activation)[int(rng.integers(4))])
    return c.Case(f"product {seed}", "multiply", attrs, operands, c.quant(scale, zero))


def _softmax(seed: int) -> c.Case:
    rng = np.random.default_rng(seed)
    quant = c.quant(float(10 ** rng.uniform(-3, 0.5)), int(rng.integers(-128, 128)))
    data = c.int8(rng, (int(rng.integers(1, 4)), 1 + seed), quant)
    return c.Case(
        f"softmax {seed}", "nn.softmax", SoftmaxAttrs(1.0), (data,), c.quant(1 / 256, -128)
    )


@functools.cache
def matmul(seed: int) -> c.Case:
    """A product of matrices; seeds have one of three roundings by turns."""
    rng = np.random.default_rng(seed)
    attrs, *shapes, depth = matmuls.random_operands(rng)
    attrs = dataclasses.replace(attrs, in_float32=seed % 3 == 0, rounds_once=seed % 3 == 1)
    lhs, rhs = (c.int8(rng, shape, c.random_quant(rng)) for shape in shapes)
    scale = matmuls.output_scale(lhs.type.scale, rhs.type.scale, depth)
    out = c.quant(scale, int(rng.integers(-128, 128)))
    return c.Case(f"matmul {seed}", "nn.batch_matmul", attrs, (lhs, rhs), out)


def cases() -> tuple[c.Case, ...]:
    return (
        *(_sum(size, (size,), (size,)) for size in SIZES),
        *(_sum(100 + i, *shapes) for i, shapes in enumerate(BROADCASTS * 2)),
        *(_inexact(size, (size,), (size,)) for size in SIZES),
        *(_inexact(100 + i, *shapes) for i, shapes in enumerate(BROADCASTS * 3)),
        *(_square(size, (size,), (size,)) for size in SIZES),
        *(_square(100 + i, *shapes) for i, shapes in enumerate(BROADCASTS * 3)),
        *(_product(size, (size,), (size,)) for size in SIZES),
        *(_product(100 + i, *shapes) for i, shapes in enumerate(BROADCASTS * 3)),
        *map(matmul, range(80)),
        *map(_softmax, range(20)),
        *map(_pool, range(120)),
        *map(_extreme_pool, (-128, 127)),
        *(_extreme_clipped(n, ties_upward=up) for n in (-128, 127) for up in (False, True)),
        *map(_mean, range(36)),
    )
