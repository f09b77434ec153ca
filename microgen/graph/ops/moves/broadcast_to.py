"""broadcast_to: the data repeated along axes of size 1, and along new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class BroadcastToAttrs(Attrs):
    """Input: data of any dtype, whose shape broadcasts to ``shape`` as in numpy."""

    shape: Shape


def infer(attrs: BroadcastToAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """``shape`` itself."""
    one_input("broadcast_to", inputs)
    own, shape = inputs[0].shape, attrs.shape
    last = shape[len(shape) - len(own) :]
    if len(own) > len(shape) or any(a not in (1, b) for a, b in zip(own, last, strict=True)):
        raise ValueError(
            f"the input {inputs[0]} does not broadcast to [{','.join(map(str, shape))}]"
        )
    return (shape,)


def reference(attrs: BroadcastToAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/broadcast_to.h, BroadcastTo; fill.cc, Eval."""
    return (np.broadcast_to(operands.inputs[0], attrs.shape).copy(),)


def parts(_attrs: BroadcastToAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("broadcast_to",)


OP = Op(
    "broadcast_to",
    BroadcastToAttrs,
    infer,
    unchanged,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference),
)
