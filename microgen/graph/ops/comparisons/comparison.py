"""Comparisons and logic of each pair of elements, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.ir.graph import Array, Arrays, ArrayType, Attrs, DType, Types
from microgen.graph.ops.base import OpDefinition, Operands, Shapes
from microgen.graph.ops.constraints import INTEGERS, activation_constraint, first_of, refused
from microgen.graph.ops.elementwise import broadcast

_ORDERED = (DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.FLOAT32)
_LEFT_SHIFT = 8

Compare = Callable[[Array, Array], Array]


class ComparisonAttrs(Attrs):
    """Inputs: two tensors of one dtype and of broadcastable shapes: int8, each with its own
    quantization; int16, whose stored values are compared by an order and whose real values are
    compared by equality; float32 or plain integers; for equality also bool. Output: bool."""


def parameters(operand: ArrayType) -> tuple[int, int]:
    """(multiplier, shift) of a quantized operand, from its scale.

    Source: TFLite comparisons.cc, ComparisonQuantized. ValueError for a scale of 1 or more, for
    which TFLite aborts or computes nonsense.
    """
    if operand.scale >= 1:
        raise ValueError(
            f"{operand} has the scale {operand.scale:g}; to be compared it must be less than 1"
        )
    return quantize_multiplier(operand.scale)


def is_scaled(dtype: DType, *, is_equality: bool) -> bool:
    """Whether real values are compared instead of stored values, if there is a scale. Source:
    measurement, for int16."""
    return dtype is DType.INT8 or (dtype is DType.INT16 and is_equality)


def _scaled(stored: Array, operand: ArrayType) -> Array:
    """Real values in 256ths, rounded."""
    # TFLite shifts by 8 bits before it scales, so that the comparison has a fraction.
    centred = stored.astype(np.int64) - operand.zero_point
    return broadcast.scale(centred << _LEFT_SHIFT, *parameters(operand))


def _op(name: str, sign: str, compare: Compare, *, is_equality: bool = False) -> OpDefinition:
    """The comparison ``lhs sign rhs``."""
    accepted = (*_ORDERED, DType.BOOL) if is_equality else _ORDERED

    def check(_attrs: ComparisonAttrs, inputs: Types, outputs: Types) -> str | None:
        """Operands of one dtype, and scales less than 1 if real values are compared."""
        lhs, rhs = inputs
        if lhs.quant is None and lhs.dtype in INTEGERS:
            output = activation_constraint("output", outputs[0], (DType.BOOL,))
            return output or broadcast.one_plain(inputs, (lhs,), INTEGERS)
        sentence = (
            activation_constraint("left input", lhs, accepted)
            or activation_constraint("right input", rhs, (lhs.dtype,))
            or activation_constraint("output", outputs[0], (DType.BOOL,))
        )
        if sentence or not is_scaled(lhs.dtype, is_equality=is_equality):
            return sentence
        return first_of(refused(parameters, operand) for operand in inputs)

    def reference(_attrs: ComparisonAttrs, operands: Operands) -> Arrays:
        # Source: TFLite reference/comparisons.h, ComparisonWithScaling.
        lhs, rhs = operands.inputs
        kind = operands.input_types[0]
        if kind.quant and is_scaled(kind.dtype, is_equality=is_equality):
            lhs, rhs = map(_scaled, operands.inputs, operands.input_types)
        return (compare(lhs, rhs),)

    about = f"lhs {sign} rhs for each two elements, with numpy's broadcasting"
    return OpDefinition(name, ComparisonAttrs, broadcast.infer, check, reference, about=about)


class LogicalAttrs(Attrs):
    """Inputs: two bool tensors of broadcastable shapes; one for logical_not. Output: bool."""


def _logical_check(_attrs: LogicalAttrs, inputs: Types, outputs: Types) -> str | None:
    """All tensors are bool."""
    roles = [*(("input", tensor) for tensor in inputs), ("output", outputs[0])]
    return first_of(activation_constraint(*each, (DType.BOOL,)) for each in roles)


def _logical(
    name: str, function: Callable[..., Array], about: str, n_inputs: int = 2
) -> OpDefinition:
    def infer(_attrs: LogicalAttrs, inputs: Types) -> Shapes:
        """The broadcast shape."""
        if len(inputs) != n_inputs:
            raise ValueError(f"there are {len(inputs)} inputs of {name}; {n_inputs} expected")
        return (broadcast.broadcast_shape(inputs),)

    def reference(_attrs: LogicalAttrs, operands: Operands) -> Arrays:
        # Source: TFLite logical.cc and elementwise.cc.
        return (function(*operands.inputs),)

    return OpDefinition(name, LogicalAttrs, infer, _logical_check, reference, about=about)


_BOTH = "whether both of each two elements are true, with numpy's broadcasting"
_EITHER = "whether at least one of each two elements is true, with numpy's broadcasting"


OPS = (
    _op("equal", "==", np.equal, is_equality=True),
    _op("not_equal", "!=", np.not_equal, is_equality=True),
    _op("less", "<", np.less),
    _op("less_equal", "<=", np.less_equal),
    _op("greater", ">", np.greater),
    _op("greater_equal", ">=", np.greater_equal),
    _logical("logical_and", np.logical_and, _BOTH),
    _logical("logical_or", np.logical_or, _EITHER),
    _logical("logical_not", np.logical_not, "whether each element is false", n_inputs=1),
)
