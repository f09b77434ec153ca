"""min: the least value over some axes."""

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
class MinAttrs(ReductionAttrs):
    """Input: int8, int16, int32 or float32 data of any rank. The output has its quantization.

    ``from_infinity``: the least of infinities of one sign is that infinity, as in ONNX. Otherwise
    it is finite, as in TFLite and Relay, whose searches begin at the greatest finite value.
    """

    from_infinity: bool = False


def check(
    _attrs: MinAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """One dtype, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0], (*ALL_FAMILIES, DType.INT32))


def reference(attrs: MinAttrs, operands: Operands) -> tuple[Array, ...]:
    """The least stored value, which means the least real one. NaN is ignored.

    Source: TFLite reduce.cc, EvalGeneric.
    """
    data: Array = operands.inputs[0]
    numbers = np.fmin(data, limits.greatest(data.dtype, infinite=attrs.from_infinity))
    return (np.asarray(numbers.min(axis=attrs.axes, keepdims=attrs.keep_dims)),)


def parts(_attrs: MinAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("min",)


OP = Op(
    "min",
    MinAttrs,
    infer,
    check,
    reference,
    parts,
    bound=bounds.elementwise(greatest_error, roundings=0),
)
