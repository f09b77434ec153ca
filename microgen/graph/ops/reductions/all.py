"""all: whether every value over some axes is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops.base import Op, Operands
from microgen.graph.ops.constraints import activations_constraint
from microgen.graph.ops.reductions.reduction import ReductionAttrs, infer


@dataclass(frozen=True, slots=True)
class AllAttrs(ReductionAttrs):
    """Input: bool data of any rank."""


def check(
    _attrs: AllAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """All tensors are bool."""
    return activations_constraint(inputs[0], outputs[0], (DType.BOOL,))


def reference(attrs: AllAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reduce.cc, EvalGeneric."""
    found = np.all(operands.inputs[0], axis=attrs.axes, keepdims=attrs.keep_dims)
    return (np.asarray(found),)


def parts(_attrs: AllAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("all",)


OP = Op("all", AllAttrs, infer, check, reference, parts)
