"""nn.dense_hybrid: a fully connected layer of float32 data with int8 weights, computed in
integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, Arrays, Attrs, Types
from microgen.graph.ops import floats, hybrid
from microgen.graph.ops.base import OpDefinition, Operands, Shapes, layer
from microgen.graph.ops.cost import by_rows
from microgen.graph.ops.dense import dense


@dataclass(frozen=True, slots=True)
class DenseHybridAttrs(Attrs):
    """Inputs: float32 data, int8 weight [out, in], optional float32 bias [out], with the shapes of
    nn.dense. Each row is quantized, with a zero point if ``asymmetric``."""

    activation: Activation
    asymmetric: bool
    keep_num_dims: bool


def infer(attrs: DenseHybridAttrs, inputs: Types) -> Shapes:
    """The shape [rows, out], or data's with the last dimension replaced."""
    plain = dense.DenseAttrs(attrs.activation, Rounding.SINGLE, attrs.keep_num_dims)
    return dense.infer(plain, inputs)


def check(_attrs: DenseHybridAttrs, inputs: Types, outputs: Types) -> str | None:
    """float32 data with int8 weights, symmetric and per tensor or per unit. Sums of products fit
    int32."""
    return hybrid.constraint(inputs, outputs[0], axis=0, products=inputs[1].shape[1])


def reference(attrs: DenseHybridAttrs, operands: Operands) -> Arrays:
    """Source: TFLite fully_connected.cc, EvalHybridDense."""
    data, weight, *bias = operands.inputs
    output = operands.output_types[0]
    rows = data.reshape(-1, weight.shape[1])
    scaled = np.stack([_scaled(row, operands, attrs) for row in rows]).reshape(output.shape)
    return floats.activated(scaled + bias[0] if bias else scaled, attrs.activation)


def _scaled(row: Array, operands: Operands, attrs: DenseHybridAttrs) -> Array:
    """The sums of one row in float32, without the bias."""
    values, scale = hybrid.quantized(row, asymmetric=attrs.asymmetric)
    sums = (operands.inputs[1].astype(np.int64) @ values).astype(np.float32)
    return sums * (scale * hybrid.scales(operands.input_types[1]))


OP = OpDefinition("nn.dense_hybrid", DenseHybridAttrs, infer, check, reference, layer, cost=by_rows)
