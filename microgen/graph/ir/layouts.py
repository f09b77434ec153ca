"""Finds the tensors of the model that a graph has, under their own names or in another layout.

A pass that computes a tensor of the model in another shape or order of axes gives it a new name,
because a name of the model stands for the model's values. ``Graph.laid_out`` has the layout, so a
comparison still finds the model's tensor.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, Graph, KeptChannels, Move, TensorLayout

Shape = tuple[int, ...]


def reshaped(graph: Graph, name: str) -> TensorLayout:
    """The layout of a tensor that has the elements of the tensor ``name`` in the same order."""
    shape = graph.types[name].shape
    return _of(graph, name, (shape, tuple(range(len(shape)))))


def rearranged(graph: Graph, name: str, moves: tuple[Move, ...]) -> TensorLayout:
    """The layout of a tensor that the moves turn into the tensor ``name``."""
    return _of(graph, name, *moves)


def _of(graph: Graph, name: str, *moves: Move) -> TensorLayout:
    """The layout of a tensor that the moves turn into the tensor ``name``. If ``name`` has a layout
    itself, its moves follow.
    """
    known = graph.laid_out.get(name)
    if known is None:
        return TensorLayout(name, moves)
    return TensorLayout(known.tensor, (*moves, *known.moves))


@dataclass(frozen=True, slots=True)
class Shown:
    """A tensor of a graph, as a view of one of the model's tensors."""

    tensor: str  # the model's
    kind: ArrayType  # of the graph's tensor, with all of its channels
    channels: KeptChannels | None = None  # the remaining ones, if the graph's tensor lacks some
    layout: TensorLayout | None = None  # if it is another one

    @property
    def is_plain(self) -> bool:
        """Whether the graph has the model's tensor unchanged."""
        return self.channels is None and self.layout is None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the graph's tensor."""
        left = self.channels
        return self.kind.shape if left is None else (*self.kind.shape[:-1], len(left.kept))

    def index_in_model(self, index: tuple[int, ...]) -> tuple[int, ...]:
        """The index in the model's tensor of an element of the graph's tensor."""
        if self.channels is not None:
            index = self.channels.index_in_model(index)
        own = self.kind.shape
        for shape, axes in self.layout.moves if self.layout else ():
            flat = int(np.ravel_multi_index(index, own)) if own else 0
            moved = np.unravel_index(flat, shape)
            index = tuple(int(moved[axis]) for axis in axes)
            own = tuple(shape[axis] for axis in axes)
        return index

    def filled(self, left: Array, whole: Array) -> Array:
        """The model's tensor, with the elements of ``left``, the graph's tensor. In the channels
        that ``left`` lacks, it has the elements of ``whole``, which has the model's shape.
        """
        if self.channels is not None:
            left = self.channels.filled(left, self._in_graph(whole))
        for shape, axes in self.layout.moves if self.layout else ():
            left = left.reshape(shape).transpose(axes)
        return np.ascontiguousarray(left).reshape(whole.shape)

    def _in_graph(self, array: Array) -> Array:
        """An array of the model's tensor in the layout of the graph's tensor, with all channels."""
        # The moves backwards, each with its inverse order of axes.
        for shape, axes in reversed(self.layout.moves if self.layout else ()):
            moved = tuple(shape[axis] for axis in axes)
            array = array.reshape(moved).transpose(np.argsort(axes))
        return array.reshape(self.kind.shape)


def shown(graph: Graph, names: Mapping[str, ArrayType]) -> dict[str, Shown]:
    """Tensor of the graph -> the part of one of the model's tensors ``names`` that it shows."""
    by_name: dict[str, Shown] = {}
    for name in graph.types:
        layout = None if name in names else graph.laid_out.get(name)
        tensor = layout.tensor if layout else name
        if tensor in names:
            channels = graph.channels.get(name)
            by_name[name] = Shown(tensor, _whole(graph.types[name], channels), channels, layout)
    return by_name


def by_model(shows: Mapping[str, Shown], known: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Tensor of the model -> the ``known`` tensors of the graph that show it, in the order of
    ``known``.
    """
    by_tensor: dict[str, tuple[str, ...]] = {}
    # Each name once, in order.
    for name in dict.fromkeys(known):
        if name in shows:
            tensor = shows[name].tensor
            by_tensor[tensor] = (*by_tensor.get(tensor, ()), name)
    return by_tensor


def fits(layout: TensorLayout, kind: ArrayType, channels: KeptChannels | None) -> bool:
    """Whether a tensor of a type, with all of its channels, can have the layout."""
    sizes = {math.prod(shape) for shape, _ in layout.moves}
    orders = all(sorted(axes) == list(range(len(shape))) for shape, axes in layout.moves)
    return orders and sizes == {_whole(kind, channels).size}


def fresh(graph: Graph, wanted: str, *, more: Container[str] = (), shape: Shape = ()) -> str:
    """An unused name for a new tensor of a graph: the wanted name, followed by a shape. It is not
    the name of a tensor of the graph, of the model or in ``more``.
    """
    start = f"{wanted}#{'x'.join(map(str, shape))}" if shape else wanted
    name, count = start, 0
    while name in graph.types or name in graph.dropped or name in more:
        count += 1
        name = f"{start}'{count}"
    return name


def _whole(kind: ArrayType, channels: KeptChannels | None) -> ArrayType:
    if channels is None:
        return kind
    return ArrayType((*kind.shape[:-1], channels.count), kind.dtype, kind.quant)
