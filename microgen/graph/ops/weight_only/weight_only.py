"""Float32 layers whose constant weights are int8 with a scale per channel, or one for all, as
weight-only quantization stores them. Each weight means float32(stored) * scale, and the layer
computes with these numbers as the float32 layer does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds
from microgen.graph.ops.base import (
    OpDefinition,
    Operands,
    Reference,
    Shapes,
    expect_inputs,
    layer,
)
from microgen.graph.ops.constraints import (
    activations_constraint,
    dtype_constraint,
    plain_constraint,
    weight_constraint,
)
from microgen.graph.ops.convolution.conv2d import CONV2D, Conv2DAttrs, Conv2DWindow
from microgen.graph.ops.convolution.conv2d_transpose import (
    CONV2D_TRANSPOSE,
    Conv2DTransposeAttrs,
    TransposeWindow,
)
from microgen.graph.ops.cost import moved
from microgen.graph.ops.dense.dense import DENSE, DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import (
    DEPTHWISE_CONV2D,
    DepthwiseConv2DAttrs,
    DepthwiseWindow,
)
from microgen.graph.ops.moves.indexed import expect_indices

# Float layers are not rounded to integers, so any rounding will do.
_ROUNDING = Rounding.DOUBLE


def dequantized(stored: Array, weight: ArrayType) -> Array:
    """The float32 numbers that stored weights mean. Source: LiteRT, DEQUANTIZE of a constant."""
    quant = weight.quant
    assert quant is not None, "weight_constraint has checked it"
    shape = [1] * stored.ndim
    if quant.axis is not None:
        shape[quant.axis] = -1
    with np.errstate(over="ignore"):
        return np.asarray(stored.astype(np.float32) * quant.scales.reshape(shape))


def plain_type(weight: ArrayType) -> ArrayType:
    """The type of the dequantized weight."""
    return ArrayType(weight.shape, DType.FLOAT32)


def _plain(operands: Operands) -> Operands:
    """The operands of the float32 layer."""
    (data, stored, *bias), (kind, weight, *biases) = operands.inputs, operands.input_types
    return replace(
        operands,
        inputs=(data, dequantized(stored, weight), *bias),
        input_types=(kind, plain_type(weight), *biases),
    )


@dataclass(frozen=True, slots=True)
class DenseWeightOnlyAttrs(Attrs):
    """nn.dense_weight_only: a fully connected layer of float32 data with dequantized int8 weights.

    Inputs: float32 data, int8 weight [out, in], optional float32 bias [out], with the shapes of
    nn.dense.
    """

    activation: Activation
    keep_num_dims: bool


@dataclass(frozen=True, slots=True)
class Conv2DWeightOnlyAttrs(Conv2DWindow):
    """nn.conv2d_weight_only: a 2-D convolution of float32 data with dequantized int8 weights.

    Inputs: float32 NHWC data, int8 OHWI weight, optional float32 bias [O].
    """


@dataclass(frozen=True, slots=True)
class Conv2DTransposeWeightOnlyAttrs(TransposeWindow):
    """nn.conv2d_transpose_weight_only: a transposed 2-D convolution of float32 data with
    dequantized int8 weights.

    Inputs: float32 NHWC data, int8 OHWI weight, optional float32 bias [O].
    """


@dataclass(frozen=True, slots=True)
class DepthwiseConv2DWeightOnlyAttrs(DepthwiseWindow):
    """nn.depthwise_conv2d_weight_only: a depthwise convolution of float32 data with dequantized
    int8 weights.

    Inputs: float32 NHWC data, int8 weight [1, KH, KW, C * depth_multiplier], optional float32 bias.
    """


def _dense(attrs: DenseWeightOnlyAttrs) -> DenseAttrs:
    return DenseAttrs(attrs.activation, _ROUNDING, attrs.keep_num_dims)


def _conv2d(attrs: Conv2DWindow) -> Conv2DAttrs:
    window = (attrs.strides, attrs.dilation, attrs.padding)
    return Conv2DAttrs(*window, attrs.activation, _ROUNDING)


def _transpose(attrs: TransposeWindow) -> Conv2DTransposeAttrs:
    window = (attrs.strides, attrs.padding, attrs.size)
    return Conv2DTransposeAttrs(*window, attrs.activation, _ROUNDING)


def _depthwise(attrs: DepthwiseWindow) -> DepthwiseConv2DAttrs:
    window = (attrs.strides, attrs.dilation, attrs.padding, attrs.depth_multiplier)
    return DepthwiseConv2DAttrs(*window, attrs.activation, _ROUNDING)


@dataclass(frozen=True, slots=True)
class Twin:
    """A float32 layer and its form with stored weights: ``axis`` is the weight's axis of output
    channels, ``of`` makes the form's attributes, and ``plain`` the layer's."""

    op: str
    layer: OpDefinition
    attrs: type[Attrs]
    axis: int
    of: Callable[[Any], Attrs]
    plain: Callable[[Any], Attrs]


def _of_dense(a: DenseAttrs) -> Attrs:
    return DenseWeightOnlyAttrs(a.activation, a.keep_num_dims)


def _of_conv2d(a: Conv2DAttrs) -> Attrs:
    return Conv2DWeightOnlyAttrs(a.strides, a.dilation, a.padding, a.activation)


def _of_transpose(a: Conv2DTransposeAttrs) -> Attrs:
    return Conv2DTransposeWeightOnlyAttrs(a.strides, a.padding, a.size, a.activation)


def _of_depthwise(a: DepthwiseConv2DAttrs) -> Attrs:
    window = (a.strides, a.dilation, a.padding, a.depth_multiplier)
    return DepthwiseConv2DWeightOnlyAttrs(*window, a.activation)


def _twin(
    layer: OpDefinition,
    attrs: type[Attrs],
    of: Callable[[Any], Attrs],
    plain: Callable[[Any], Attrs],
    axis: int = 0,
) -> Twin:
    return Twin(f"{layer.name}_weight_only", layer, attrs, axis, of, plain)


TWINS = (
    _twin(DENSE, DenseWeightOnlyAttrs, _of_dense, _dense),
    _twin(CONV2D, Conv2DWeightOnlyAttrs, _of_conv2d, _conv2d),
    _twin(CONV2D_TRANSPOSE, Conv2DTransposeWeightOnlyAttrs, _of_transpose, _transpose),
    _twin(DEPTHWISE_CONV2D, DepthwiseConv2DWeightOnlyAttrs, _of_depthwise, _depthwise, 3),
)


def _definition(twin: Twin) -> OpDefinition:
    """The op of a form with stored weights."""

    def infer(attrs: Attrs, inputs: Types) -> Shapes:
        return twin.layer.infer(twin.plain(attrs), inputs)

    def check(_attrs: Attrs, inputs: Types, outputs: Types) -> str | None:
        """float32 data, bias and output; int8 weights, symmetric and per tensor or per output
        channel."""
        data, weight, *bias = inputs
        sentence = activations_constraint(data, outputs[0], (DType.FLOAT32,))
        for tensor in bias:
            sentence = sentence or dtype_constraint("bias", tensor, (DType.FLOAT32,))
        return sentence or weight_constraint(weight, twin.axis)

    def reference(attrs: Attrs, operands: Operands) -> Arrays:
        arrays: Arrays = twin.layer.reference(twin.plain(attrs), _plain(operands))
        return arrays

    def cost(attrs: Attrs, inputs: Types, outputs: Types) -> Any:
        return twin.layer.cost(twin.plain(attrs), inputs, outputs)

    return OpDefinition(
        twin.op,
        twin.attrs,
        infer,
        check,
        reference,
        layer,
        cost=cost,
        bound=_bound(twin, reference),
    )


def _bound(twin: Twin, reference: Reference) -> Any:
    """The float32 layer's bound. Implementations dequantize weights exactly as the reference."""

    def terms(attrs: Attrs, operands: Operands) -> int:
        shape = operands.input_types[1].shape
        if twin.axis:  # a depthwise filter sees one channel
            return math.prod(shape[1:3])
        if not isinstance(attrs, TransposeWindow):
            return math.prod(shape[1:])
        return (
            math.prod(-(-k // s) for k, s in zip(shape[1:3], attrs.strides, strict=True))
            * (shape[3])
        )

    return bounds.products(reference, terms, is_wide=not twin.axis)


@dataclass(frozen=True, slots=True)
class EmbeddingAttrs(Attrs):
    """nn.embedding: the rows of an int8 table that indices select, as float32 numbers.

    Inputs: int32 indices of any shape, each at least 0 and less than the number of rows; int8 table
    with one scale for each row, or one for all. Output: the shape of the indices, then that of a
    row.
    """


def _embedding_infer(_attrs: EmbeddingAttrs, inputs: Types) -> Shapes:
    """The shape of the indices, then the shape of a row."""
    expect_inputs(inputs, 2, "indices and a table", by="nn.embedding")
    indices, table = inputs
    if not table.shape or table.shape[0] < 1:
        raise ValueError(f"the table {table} has no rows")
    return ((*indices.shape, *table.shape[1:]),)


def _embedding_check(_attrs: EmbeddingAttrs, inputs: Types, outputs: Types) -> str | None:
    """int32 indices; an int8 table, symmetric and per tensor or per row; float32 output."""
    indices, table = inputs
    return (
        dtype_constraint("indices", indices, (DType.INT32,), is_plural=True)
        or weight_constraint(table, 0)
        or dtype_constraint("output", outputs[0], (DType.FLOAT32,))
        or plain_constraint("output", outputs[0])
    )


def _embedding_reference(_attrs: EmbeddingAttrs, operands: Operands) -> Arrays:
    # Source: TFLite embedding_lookup.cc, EvalHybrid. StatusError for an index that has no row.
    indices, table = operands.inputs
    wrong = f"nn.embedding has indices from {{}} to {{}}; 0 to {len(table) - 1} are expected"
    expect_indices(wrong, indices, len(table), position=0)
    kind = operands.input_types[1]
    assert kind.quant is not None, "weight_constraint has checked it"
    scales = np.broadcast_to(kind.quant.scales, len(table))[indices]
    shape = (*indices.shape, *(1 for _ in table.shape[1:]))
    with np.errstate(over="ignore"):
        return (np.asarray(table[indices].astype(np.float32) * scales.reshape(shape)),)


EMBEDDING = OpDefinition(
    "nn.embedding",
    EmbeddingAttrs,
    _embedding_infer,
    _embedding_check,
    _embedding_reference,
    cost=moved,
)


OPS = (*map(_definition, TWINS), EMBEDDING)
