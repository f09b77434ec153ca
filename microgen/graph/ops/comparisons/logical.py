"""Elementwise logic of bool tensors, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops.base import OpDefinition, Operands, Shapes
from microgen.graph.ops.constraints import activation_constraint, first_of
from microgen.graph.ops.elementwise import broadcast


@dataclass(frozen=True, slots=True)
class LogicalAttrs(Attrs):
    """Inputs: two bool tensors of broadcastable shapes; one for logical_not. Output: bool."""


def check(_attrs: LogicalAttrs, inputs: Types, outputs: Types) -> str | None:
    """All tensors are bool."""
    roles = [*(("input", tensor) for tensor in inputs), ("output", outputs[0])]
    return first_of(activation_constraint(*each, (DType.BOOL,)) for each in roles)


def _op(name: str, function: Callable[..., Array], about: str, n_inputs: int = 2) -> OpDefinition:
    def infer(_attrs: LogicalAttrs, inputs: Types) -> Shapes:
        """The broadcast shape."""
        if len(inputs) != n_inputs:
            raise ValueError(f"there are {len(inputs)} inputs of {name}; {n_inputs} expected")
        return (broadcast.broadcast_shape(inputs),)

    def reference(_attrs: LogicalAttrs, operands: Operands) -> Arrays:
        """Source: TFLite logical.cc and elementwise.cc."""
        return (function(*operands.inputs),)

    return OpDefinition(name, LogicalAttrs, infer, check, reference, about=about)


_BOTH = "whether both of each two elements are true, with numpy's broadcasting"
_EITHER = "whether at least one of each two elements is true, with numpy's broadcasting"

OPS = (
    _op("logical_and", np.logical_and, _BOTH),
    _op("logical_or", np.logical_or, _EITHER),
    _op("logical_not", np.logical_not, "whether each element is false", n_inputs=1),
)
