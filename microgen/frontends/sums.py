"""Convolutions and dense layers whose weights or bias later operators may still change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from microgen.frontends.operators import Operator
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType, Quant


@dataclass(frozen=True, slots=True)
class PendingSums:
    """A convolution or a dense layer that may still get a bias or other weights."""

    op: str
    attrs: Attrs
    data: BuiltTensor  # in the layout of the graph's op, as weight and bias
    weight: BuiltTensor
    bias: BuiltTensor | None
    axis: int  # of the channels in the result
    weight_axis: int  # of the channels in the weight
    # turns the op's result into the result of the model's operator
    finish: Callable[[Operator, BuiltTensor], BuiltTensor]
    layouts: tuple[tuple[str, str], ...] = ()  # the layout attributes that the model declares
    dtype: DType | None = None  # of the result; None for the data's
    quant: Quant | None = None

    @property
    def channels(self) -> int:
        """The number of channels of the result."""
        return self.weight.shape[self.weight_axis]
