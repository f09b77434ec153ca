"""nn.batch_matmul: products of matrices, with numpy's broadcasting of the leading dimensions."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.in_float32 import scale_of_sums
from microgen.graph.arithmetic.int8 import (
    conv_scales,
    dense_scales,
    multiply_by_quantized_multiplier,
    offset_and_clamp,
    quantize_multiplier,
)
from microgen.graph.arithmetic.int16 import SUM_LIMIT, multiply_reduced
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats
from microgen.graph.ops.base import OpDefinition, Operands, Shape, Shapes, expect_inputs
from microgen.graph.ops.constraints import ALL_FAMILIES, farthest, scale_constraint16
from microgen.graph.ops.cost import ReferenceCost, products
from microgen.graph.ops.elementwise import broadcast

MAX_RANK = 5  # LiteRT's


@dataclass(frozen=True, slots=True)
class BatchMatmulAttrs(Attrs):
    """Inputs: lhs [..., rows, depth] and rhs [..., depth, columns] from 2 to 5 dimensions: int8 or
    int16, each with its own quantization, or float32. Output: [..., rows, columns].

    A transposed operand has its last two dimensions swapped. With ``in_float32``, sums of int8 are
    scaled in float32 (``Rounding.FLOAT``); with ``rounds_once``, sums of integers are scaled as
    LiteRT's FULLY_CONNECTED scales them (int8: ``Rounding.SINGLE``, int16: as without it, with a
    scale that is computed in double).
    """

    transpose_a: bool
    transpose_b: bool
    in_float32: bool = False
    rounds_once: bool = False


def infer(attrs: BatchMatmulAttrs, inputs: Types) -> Shapes:
    """The broadcast leading dimensions, then [rows, columns]."""
    expect_inputs(inputs, 2, "two")
    for operand in inputs:
        if not 2 <= len(operand.shape) <= MAX_RANK:
            raise ValueError(f"the operand {operand} must have from 2 to {MAX_RANK} dimensions")
    rows, depth, other_depth, columns = matrices(attrs, *inputs)
    lhs, rhs = inputs
    if depth != other_depth:
        raise ValueError(
            f"rows of {lhs} have {depth} elements and columns of {rhs} {other_depth}; "
            "they must be as long"
        )
    try:
        batches = np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    except ValueError:
        raise ValueError(f"the leading dimensions of {lhs} and {rhs} do not broadcast") from None
    return ((*batches, rows, columns),)


def matrices(attrs: BatchMatmulAttrs, lhs: ArrayType, rhs: ArrayType) -> tuple[int, int, int, int]:
    """Rows and columns of the left matrix, then of the right one, both as they are multiplied."""
    *_, rows, depth = _multiplied(lhs, attrs.transpose_a)
    *_, other_depth, columns = _multiplied(rhs, attrs.transpose_b)
    return rows, depth, other_depth, columns


def _multiplied(operand: ArrayType, is_transposed: bool) -> Shape:
    return operand.shape[:-3:-1] if is_transposed else operand.shape[-2:]


def scale(attrs: BatchMatmulAttrs, *tensors: ArrayType) -> tuple[int, int]:
    """(multiplier, shift) from sums of products of lhs and rhs to the output. ValueError if the
    scales' product is 2**30 times the output's scale or more."""
    if attrs.in_float32:
        return quantize_multiplier(float(scale_of_sums(*tensors)[0]))
    return quantize_multiplier(_ratio(attrs, *tensors))


def _ratio(attrs: BatchMatmulAttrs, *tensors: ArrayType) -> float:
    """The scale of products of lhs and rhs divided by the output's.

    Source: TFLite kernel_util.cc, GetQuantizedConvolutionMultipler, which multiplies in float32;
    and, for FULLY_CONNECTED, PopulateConvolutionQuantizationParams, which does so in double.
    """
    rule = conv_scales if attrs.rounds_once else dense_scales
    with np.errstate(over="ignore", under="ignore"):
        return float(rule(*tensors)[0])


def check(attrs: BatchMatmulAttrs, inputs: Types, outputs: Types) -> str | None:
    """One of the three families throughout, or with ``rounds_once`` integers. For int8, sums fit
    int32 before and after they are scaled. For int16, they can be scaled REDUCED."""
    if attrs.in_float32:
        return broadcast.constraint(inputs, outputs) or _sums_constraint(attrs, inputs, outputs[0])
    accepted = (DType.INT8, DType.INT16) if attrs.rounds_once else ALL_FAMILIES
    sentence = broadcast.constraint(inputs, outputs, functools.partial(scale, attrs), accepted)
    if sentence or floats.is_float(outputs[0]):
        return sentence
    (lhs, rhs), output = inputs, outputs[0]
    if sentence := _sums_constraint(attrs, inputs, output):
        return sentence
    if output.dtype is DType.INT16:
        return scale_constraint16(np.array([_ratio(attrs, lhs, rhs, output)]))
    bound, ratio = largest(attrs, lhs, rhs), _ratio(attrs, lhs, rhs, output)
    if bound * ratio >= 2**31 - 256:
        return (
            f"the output's scale is too small: sums of up to {bound}, scaled by {ratio:g}, "
            "exceed int32"
        )
    return None


def _sums_constraint(attrs: BatchMatmulAttrs, inputs: Types, output: ArrayType) -> str | None:
    bound = largest(attrs, *inputs)
    limit = SUM_LIMIT if output.dtype is DType.INT16 else 2**31 - 1
    if bound <= limit:
        return None
    depth = matrices(attrs, *inputs)[1]
    return f"{depth} products are summed, which may reach {bound}; the accumulator holds {limit}"


def largest(attrs: BatchMatmulAttrs, lhs: ArrayType, rhs: ArrayType) -> int:
    """The largest magnitude of a sum of products."""
    return matrices(attrs, lhs, rhs)[1] * farthest(lhs) * farthest(rhs)


def reference(attrs: BatchMatmulAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/batch_matmul.h, BatchMatMul.

    The product is computed in float64, which is exact for integers: ``check`` limits sums to 2**47.
    """
    (lhs, rhs), output = operands.input_types, operands.output_types[0]
    left, right = (
        values.astype(np.float64) - kind.zero
        for values, kind in zip(operands.inputs, operands.input_types, strict=True)
    )
    left = left.swapaxes(-1, -2) if attrs.transpose_a else left
    right = right.swapaxes(-1, -2) if attrs.transpose_b else right
    sums = left @ right
    if floats.is_float(output):
        return floats.activated(sums, Activation.NONE)
    scaled = _scaled(attrs, sums.astype(np.int64), lhs, rhs, output)
    return (offset_and_clamp(scaled, output, Activation.NONE),)


def _scaled(attrs: BatchMatmulAttrs, sums: Array, *tensors: ArrayType) -> Array:
    """Sums in the scale of the last tensor."""
    factor = scale(attrs, *tensors)
    if tensors[-1].dtype is DType.INT16:
        return multiply_reduced(sums, *factor)
    rounding = Rounding.SINGLE if attrs.rounds_once else Rounding.DOUBLE
    if attrs.in_float32:
        rounding = Rounding.FLOAT
    return multiply_by_quantized_multiplier(sums, *factor, rounding)


def cost(attrs: BatchMatmulAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """The products of each element of the output."""
    return products(inputs, outputs, outputs[0].size * matrices(attrs, *inputs)[1])


def _terms(attrs: BatchMatmulAttrs, operands: Operands) -> int:
    return matrices(attrs, *operands.input_types)[1]


OP = OpDefinition(
    "nn.batch_matmul",
    BatchMatmulAttrs,
    infer,
    check,
    reference,
    cost=cost,
    bound=bounds.products(reference, _terms),
)
