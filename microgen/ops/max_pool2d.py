"""nn.max_pool2d: the greatest value of each window; padding does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array, Attrs, TensorType
from microgen.ops.base import Activation, Op, Operands, Padding, Pair, Shape
from microgen.ops.constraints import unchanged_constraint
from microgen.ops.window import pool_shape, pool_windows
from microgen.quantize import clamp


@dataclass(frozen=True, slots=True)
class MaxPool2DAttrs(Attrs):
    """Input: int8 NHWC data; the output has its quantization."""

    pool_size: Pair
    strides: Pair
    padding: Padding
    activation: Activation


def infer(attrs: MaxPool2DAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape [N, OH, OW, C]."""
    pool = attrs.padding, attrs.pool_size, attrs.strides
    return (pool_shape("nn.max_pool2d", inputs, pool),)


def check(
    _attrs: MaxPool2DAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0])


def reference(attrs: MaxPool2DAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/integer_ops/pooling.h, MaxPool."""
    pool = attrs.padding, attrs.pool_size, attrs.strides
    seen = pool_windows(operands.inputs[0], pool, np.iinfo(np.int8).min)
    return (clamp(seen.max(axis=(4, 5)), operands.output_types[0], attrs.activation),)


def parts(attrs: MaxPool2DAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    clip = () if attrs.activation is Activation.NONE else ("clip",)
    return ("nn_max_pool2d", *clip)


OP = Op("nn.max_pool2d", MaxPool2DAttrs, infer, check, reference, parts)
