"""Shared by the pools: attributes, shape, cost and name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Attrs, TensorType
from microgen.graph.ops.base import Padding, Pair
from microgen.graph.ops.cost import Cost
from microgen.graph.ops.window import Pool, pool_cost


@dataclass(frozen=True, slots=True)
class PoolAttrs(Attrs):
    """The window, and the clamp that follows."""

    pool_size: Pair
    strides: Pair
    padding: Padding
    activation: Activation

    @property
    def pool(self) -> Pool:
        """The window alone."""
        return self.padding, self.pool_size, self.strides


def cost(attrs: PoolAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Cost:
    """Each cell under each window."""
    return pool_cost(attrs.pool, inputs, outputs)


def parts(word: str, attrs: PoolAttrs) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return (word,) if attrs.activation is Activation.NONE else (word, "clip")
