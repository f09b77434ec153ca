"""Arguments that several operators have."""

from __future__ import annotations

from microgen.frontends.tflite.layers import Layer, Options
from microgen.ops.base import Pair


def strides(layer: Layer, options: Options) -> Pair:
    """(height, width), each at least 1."""
    return layer.positive_pair(options, "StrideH", "StrideW")


def dilation(layer: Layer, options: Options) -> Pair:
    """(height, width), each at least 1."""
    return layer.positive_pair(options, "DilationHFactor", "DilationWFactor")


def integers(layer: Layer, position: int) -> tuple[int, ...]:
    """A constant input, flat."""
    return tuple(layer.integers(position).reshape(-1).tolist())


def resolved_axis(layer: Layer, axis: int, rank: int) -> int:
    """An axis of a tensor of that rank, counted from the front."""
    if not -rank <= axis < rank:
        raise layer.invalid(f"has the axis {axis}; {-rank} to {rank - 1} are expected")
    return axis % rank


def cut(values: tuple[int, ...]) -> str:
    """The first of many numbers, for messages."""
    shown = ", ".join(map(str, values[:8]))
    return f"[{shown}, ...]" if len(values) > 8 else f"[{shown}]"
