"""Shared by the forms of nodes in Relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.graph.arithmetic.int8 import float_range
from microgen.graph.arithmetic.terms import RELUS, Activation
from microgen.graph.ir.graph import TensorType, frozen
from microgen.relay.builder import build
from microgen.relay.expr import Constant, Expr


class NoFormError(Exception):
    """The reason why a node has no form in Relay, as a sentence."""


@dataclass(frozen=True, slots=True)
class Said:
    """A node as its form in Relay is made from it: ``attrs`` of its op, ``types`` of its inputs,
    the type ``output`` of its output, and ``operands``, the expressions of its inputs."""

    op: str
    attrs: Any
    types: tuple[TensorType, ...]
    output: TensorType
    operands: tuple[Expr, ...]


Form = Callable[[Said], Expr]


def call(name: str, *operands: Any, **attrs: Any) -> Expr:
    """A call of an operator with one result, made by the builder."""
    made = build(name, *operands, **attrs)
    assert isinstance(made, Expr), "operators of several results are no form's"
    return made


def activated(value: Expr, activation: Activation) -> Expr:
    """A value clamped like a fused activation."""
    if not activation.clamps:
        return value
    if activation in RELUS:
        return call("nn.relu", value)
    low, high = float_range(activation)
    return call("clip", value, a_min=low, a_max=high)


def reshaped(value: Expr, shape: Sequence[int]) -> Expr:
    """A value with another shape. A constant becomes a constant of that shape."""
    if isinstance(value, Constant):
        return Constant(frozen(value.data.reshape(shape)))
    return call("reshape", value, newshape=tuple(shape))


def biased(said: Said, sums: Expr, rank: int) -> Expr:
    """Sums of products with the node's bias, if it has one, and its activation. Channels are the
    last of ``rank`` axes."""
    if len(said.operands) > 2:
        sums = call("nn.bias_add", sums, said.operands[2], axis=rank - 1)
    return activated(sums, said.attrs.activation)
