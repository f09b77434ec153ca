"""min: the least value over some axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.ir.graph import Array, TensorType
from microgen.ops.base import Op, Operands
from microgen.ops.constraints import unchanged_constraint
from microgen.ops.reduction import ReductionAttrs, infer


@dataclass(frozen=True, slots=True)
class MinAttrs(ReductionAttrs):
    """Input: int8 data of any rank. The output has its quantization."""


def check(
    _attrs: MinAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, quantization unchanged."""
    return unchanged_constraint(inputs[0], outputs[0])


def reference(attrs: MinAttrs, operands: Operands) -> tuple[Array, ...]:
    """The least stored value, which stands for the least real one."""
    data: Array = operands.inputs[0]
    result: Array = data.min(axis=attrs.axes, keepdims=attrs.keep_dims)
    return (result,)


def parts(_attrs: MinAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("min",)


OP = Op("min", MinAttrs, infer, check, reference, parts)
