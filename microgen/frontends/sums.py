"""Convolutions and dense layers that later operators may still change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from microgen.frontends.operators import Operator
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType, Quant


@dataclass(frozen=True, slots=True)
class PendingSums:
    """A convolution or a dense layer that can still be given a bias or other weights.

    ``data``, ``weight`` and ``bias`` are in the layouts of the graph's op. ``finish`` turns the
    op's result into the result of the model's operator. ``axis`` is the axis of the channels in
    that result, ``weight_axis`` their axis in the weight. ``layouts`` are the layout attributes
    that the model declares. ``dtype`` and ``quant`` are those of the result; if ``dtype`` is None,
    the result has the data's dtype.
    """

    op: str
    attrs: Attrs
    data: BuiltTensor
    weight: BuiltTensor
    bias: BuiltTensor | None
    axis: int
    weight_axis: int
    finish: Callable[[Operator, BuiltTensor], BuiltTensor]
    layouts: tuple[tuple[str, str], ...] = ()
    dtype: DType | None = None
    quant: Quant | None = None

    @property
    def channels(self) -> int:
        """The number of channels of the result."""
        return self.weight.shape[self.weight_axis]
