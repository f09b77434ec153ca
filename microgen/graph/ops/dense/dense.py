"""Fully connected layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from microgen.graph.arithmetic.int8 import RELAY, dense_scales, scales_of_sums
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops import bounds, floats, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Shapes, layer
from microgen.graph.ops.constraints import (
    ALL_FAMILIES,
    accumulator_constraint,
    activations_constraint,
    bias_constraint,
    float_weights_constraint,
    rounding_constraint,
    scale_constraint16,
    weight_constraint,
    weight_zero,
)
from microgen.graph.ops.convolution import convolution
from microgen.graph.ops.cost import ReferenceCost, by_rows, products

_ROUNDINGS = {
    DType.INT8: (Rounding.DOUBLE, Rounding.PRODUCT, Rounding.SINGLE, Rounding.FLOAT, *RELAY),
    DType.INT16: (Rounding.REAL, Rounding.DOUBLE, Rounding.REDUCED, Rounding.FLOAT),
}
_FLOAT32_SCALES = (Rounding.DOUBLE, Rounding.REDUCED)  # the roundings of TFLite Micro
_WIDE_BIASES = {  # for int16 data, by the accumulators of each rounding
    Rounding.REAL: (DType.INT32, DType.INT64),
    Rounding.DOUBLE: (DType.INT32,),
    Rounding.REDUCED: (DType.INT64,),
    Rounding.FLOAT: (DType.INT64,),
}


@dataclass(frozen=True, slots=True)
class DenseAttrs(Attrs):
    """nn.dense: a fully connected layer.

    Inputs: data, weight [out, in], optional bias [out]: int8, int8 and int32; int16, int8 and int32
    or int64; or all float32. Sums of int16 data are rounded REAL (LiteRT), or, depending on the
    bias's dtype, DOUBLE or REDUCED (TFLite Micro).

    Without ``keep_num_dims``, data of any shape is treated as rows of ``in`` values, and the output
    is [rows, out]. With it, the last dimension of data is ``in``, and the output's is ``out``.
    """

    activation: Activation
    rounding: Rounding
    keep_num_dims: bool


def _infer(attrs: DenseAttrs | DenseHybridAttrs, inputs: Types) -> Shapes:
    """The shape [rows, out], or data's with the last dimension replaced."""
    convolution.check_count("nn.dense", inputs)
    data, weight = inputs[:2]
    if len(weight.shape) != 2 or min(weight.shape) < 1:
        raise ValueError(f"the weight {weight} must have 2 dimensions, [out, in]")
    units, features = weight.shape
    convolution.check_bias(inputs, units, "unit")
    if attrs.keep_num_dims and data.shape[-1:] != (features,):
        raise ValueError(f"the input {data} must end in the weight's {features} features")
    if data.size % features:
        raise ValueError(f"the input {data} is not rows of the weight's {features} features")
    return ((*data.shape[:-1], units) if attrs.keep_num_dims else (data.size // features, units),)


def _check(attrs: DenseAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 throughout; or activations of int8 or int16 with int8 weights, symmetric and per
    tensor or per unit. Weights of int8 data with one scale may have any zero point, unless sums
    have a scale of their own. Sums of int8 data must fit int32, and may be the output. Scaled sums
    must fit int32, unless int16 data is scaled in fixed point."""
    data, weight, *bias = inputs
    output = outputs[0]
    if output.dtype is DType.INT32:
        products = weight.shape[1]
        return convolution.sums_constraint(inputs, output, axis=0, products=products, any_zero=True)
    sentence = activations_constraint(data, output, ALL_FAMILIES, may_be_dead=True)
    if sentence or floats.is_float(data):
        return sentence or float_weights_constraint(weight, *bias)
    sentence = (
        weight_constraint(weight, axis=0, any_zero=_may_have_zero(attrs, data))
        or rounding_constraint(data, attrs.rounding, _ROUNDINGS[data.dtype])
        or (bias_constraint(bias[0], data, weight, output, _biases(attrs, data)) if bias else None)
    )
    return sentence or _scale_constraint(attrs, data, weight, output)


def _may_have_zero(attrs: DenseAttrs, data: ArrayType) -> bool:
    return data.dtype is DType.INT8 and attrs.rounding not in RELAY


def _biases(attrs: DenseAttrs, data: ArrayType) -> tuple[DType, ...]:
    return _WIDE_BIASES[attrs.rounding] if data.dtype is DType.INT16 else (DType.INT32,)


def _scale_constraint(
    attrs: DenseAttrs, data: ArrayType, weight: ArrayType, output: ArrayType
) -> str | None:
    if attrs.rounding is Rounding.FLOAT:
        return accumulator_constraint(data, weight.shape[1], np.zeros(1))
    scales = _scales(attrs, data, weight, output)
    if data.dtype is DType.INT16 and attrs.rounding is not Rounding.REAL:
        return scale_constraint16(scales)
    return accumulator_constraint(data, weight.shape[1], scales, weight_zero(weight))


def _scales(
    attrs: DenseAttrs, data: ArrayType, weight: ArrayType, output: ArrayType
) -> npt.NDArray[np.float64]:
    """The scales of the sums. LiteRT, which rounds once, multiplies scales in double; TFLite Micro
    multiplies them in float32."""
    if attrs.rounding in _FLOAT32_SCALES:
        return dense_scales(data, weight, output)
    return scales_of_sums(data, weight, output, attrs.rounding)


def _reference(attrs: DenseAttrs, operands: Operands) -> Arrays:
    # Source of the integer form: TFLite reference/integer_ops/fully_connected.h.
    # The product is computed in float64, which is exact for integers: fewer than 2**30 are summed.
    data, weight, *_ = operands.inputs
    data_type, weight_type = operands.input_types[:2]
    weight = convolution.centred(weight, weight_type)
    output = operands.output_types[0]
    rows = data.reshape(-1, weight.shape[1]).astype(np.float64) - data_type.zero
    sums = (rows @ weight.T.astype(np.float64)).reshape(output.shape)
    is_scaled = not floats.is_float(output) and output.dtype is not DType.INT32
    scales = _scales(attrs, data_type, weight_type, output) if is_scaled else None
    return convolution.finished(sums, operands, attrs.activation, attrs.rounding, scales)


def _cost(_attrs: DenseAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """The products of each unit with each row."""
    return products(inputs, outputs, outputs[0].size * inputs[1].shape[1])


DENSE = OpDefinition(
    "nn.dense",
    DenseAttrs,
    _infer,
    _check,
    _reference,
    layer,
    cost=_cost,
    bound=bounds.products(_reference, convolution.terms),
)


@dataclass(frozen=True, slots=True)
class DenseHybridAttrs(Attrs):
    """nn.dense_hybrid: a fully connected layer of float32 data with int8 weights, computed in
    integers.

    Inputs: float32 data, int8 weight [out, in], optional float32 bias [out], with the shapes of
    nn.dense. Each row is quantized, with a zero point if ``asymmetric``.
    """

    activation: Activation
    asymmetric: bool
    keep_num_dims: bool


def _hybrid_check(_attrs: DenseHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per unit. Sums of products fit
    int32."""
    return hybrid.constraint(inputs, outputs[0], axis=0, products=inputs[1].shape[1])


def _hybrid_reference(attrs: DenseHybridAttrs, operands: Operands) -> Arrays:
    # Source: TFLite fully_connected.cc, EvalHybridDense.
    data, weight, *_ = operands.inputs
    batches = (_scaled(row, operands, attrs) for row in data.reshape(-1, weight.shape[1]))
    return hybrid.finished(batches, operands, attrs.activation)


def _scaled(row: Array, operands: Operands, attrs: DenseHybridAttrs) -> Array:
    """The sums of one row in float32, without the bias."""
    values, scale = hybrid.quantized(row, asymmetric=attrs.asymmetric)
    sums = (operands.inputs[1].astype(np.int64) @ values).astype(np.float32)
    return sums * (scale * hybrid.scales(operands.input_types[1]))


DENSE_HYBRID = OpDefinition(
    "nn.dense_hybrid",
    DenseHybridAttrs,
    _infer,
    _hybrid_check,
    _hybrid_reference,
    layer,
    cost=by_rows,
)


OPS = (DENSE, DENSE_HYBRID)
