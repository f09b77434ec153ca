"""max: the greatest value over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops import bounds, limits
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.constraints import ALL_FAMILIES, unchanged_constraint
from microgen.graph.ops.reductions.reduction import ReductionAttrs, greatest_error, infer


@dataclass(frozen=True, slots=True)
class MaxAttrs(ReductionAttrs):
    """Input: int8, int16, int32 or float32 data of any rank. The output has its quantization.

    ``from_infinity``: the greatest of infinities of one sign is that infinity, as in ONNX. If not,
    it is finite, as in TFLite and Relay, whose searches begin at the least finite value.
    """

    from_infinity: bool = False


def check(
    _attrs: MaxAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0], (*ALL_FAMILIES, DType.INT32))


def reference(attrs: MaxAttrs, operands: Operands) -> tuple[Array, ...]:
    """The greatest stored value, which means the greatest real one. NaN is ignored.

    Source: TFLite reduce.cc, EvalGeneric.
    """
    data: Array = operands.inputs[0]
    numbers = np.fmax(data, limits.least(data.dtype, infinite=attrs.from_infinity))
    return (np.asarray(numbers.max(axis=attrs.axes, keepdims=attrs.keep_dims)),)


def parts(_attrs: MaxAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("max",)


OP = Op(
    "max",
    MaxAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.elementwise(greatest_error, roundings=0),
)
