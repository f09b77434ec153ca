"""Shared by the pools: attributes, shape, cost and name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.arithmetic.terms import Activation
from microgen.ir.graph import Attrs, TensorType
from microgen.ops.base import Padding, Pair
from microgen.ops.cost import Cost
from microgen.ops.window import Pool, pool_cost


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
