"""prod: the product of quantized values over some axes."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import clamp, quantize_multiplier
from microgen.graph.arithmetic.int16 import multiply_reduced
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Arrays, ArrayType, DType, Types
from microgen.graph.ops.base import OpDefinition, Operands
from microgen.graph.ops.constraints import activations_constraint, scale_constraint16
from microgen.graph.ops.reductions.reduction import ReductionAttrs, count, infer


class ProdAttrs(ReductionAttrs):
    """Input: int8 or int16 data of any rank. The output may have another quantization.

    Each product is scaled to int32, modulo 2**32, before the next value is multiplied.
    """


def scale(attrs: ReductionAttrs, data: ArrayType, output: ArrayType) -> float:
    """The number by which each product is multiplied: with it once for each value, the result is in
    the output's scale.

    Source: TFLite reduce.cc, GetQuantProdScaling.
    """
    data_scale, output_scale = (float(np.float32(each.scale)) for each in (data, output))
    return float(data_scale / output_scale ** (1 / count(attrs, data)))


def check(attrs: ProdAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype, and scales that the fixed point can hold."""
    sentence = activations_constraint(inputs[0], outputs[0], (DType.INT8, DType.INT16))
    return sentence or scale_constraint16(np.array([scale(attrs, inputs[0], outputs[0])]))


def reference(attrs: ProdAttrs, operands: Operands) -> Arrays:
    """Source: TFLite reference/reduce.h, QuantizedReduceProd."""
    data, output = operands.input_types[0], operands.output_types[0]
    factor = quantize_multiplier(scale(attrs, data, output))
    rank, kept = len(data.shape), [k for k in range(len(data.shape)) if k not in attrs.axes]
    centred = operands.inputs[0].astype(np.int64) - data.zero_point
    ordered = centred.transpose(*kept, *attrs.axes) if rank else centred
    rows = ordered.reshape(-1, count(attrs, data))
    product = rows[:, 0].astype(np.int32)
    for column in rows.T[1:]:
        product = multiply_reduced(product.astype(np.int64) * column, *factor)
    scaled = multiply_reduced(product, *factor).astype(np.int64).reshape(output.shape)
    return (clamp(scaled + output.zero_point, output, Activation.NONE),)


OP = OpDefinition(
    "prod", ProdAttrs, infer, check, reference, about="the product of quantized values over axes"
)
