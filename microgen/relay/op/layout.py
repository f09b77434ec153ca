"""Layouts (orders of axis letters), and the axes, paddings and windows of convolutions."""

from __future__ import annotations

from collections.abc import Sequence

Shape = tuple[int, ...]


def _axes(layout: str, letters: str, name: str) -> list[int]:
    """The positions of ``letters`` in ``layout``."""
    if sorted(layout) != sorted(letters):
        raise ValueError(f"{name} is {layout[:20]!r}, expected an order of the letters {letters}")
    return [layout.index(letter) for letter in letters]


def to_standard(shape: Shape, layout: str, letters: str, name: str) -> Shape:
    """The shape of a tensor of ``layout`` with its axes in the order of ``letters``."""
    axes = _axes(layout, letters, name)
    if len(shape) != len(letters):
        raise ValueError(f"an argument has shape {list(shape)}, but {name} is {layout}")
    return tuple(shape[axis] for axis in axes)


def from_standard(shape: Shape, layout: str, letters: str, name: str) -> Shape:
    """The inverse of ``to_standard``."""
    axes = _axes(layout, letters, name)
    placed = dict(zip(axes, shape, strict=True))
    return tuple(placed[i] for i in range(len(shape)))


def pads(padding: Sequence[int]) -> tuple[int, int, int, int]:
    """(top, left, bottom, right) of a padding of 1, 2 or 4 numbers."""
    if len(padding) == 1:
        padding = (*padding, *padding)
    if len(padding) == 2:
        padding = (*padding, *padding)
    top, left, bottom, right = padding
    if min(top, left, bottom, right) < 0:
        raise ValueError(f"padding is {list(padding)}, expected numbers of at least 0")
    return top, left, bottom, right


def positive(name: str, values: Sequence[int]) -> None:
    """Raise ValueError unless all ``values`` are at least 1."""
    if min(values, default=1) < 1:
        raise ValueError(f"{name} is {list(values)}, expected numbers of at least 1")


def axis_of(axis: int, rank: int, name: str = "axis") -> int:
    """The axis, which may be negative, as a number in [0, rank)."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name} is {axis}, expected an axis of a tensor of rank {rank}")
    return axis % rank


def windows(size: int, window: int, stride: int, padded: int, ceil: bool = False) -> int:
    """The number of positions of a window of ``window`` (dilation included) along an axis."""
    room = size + padded - window
    if room < 0:
        raise ValueError(f"the window spans {window}, but the padded input only {size + padded}")
    return (room + (stride - 1 if ceil else 0)) // stride + 1
