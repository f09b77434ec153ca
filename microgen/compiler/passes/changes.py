"""The changes that a pass makes to a graph: new tensors and constants, and other nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from microgen.graph.ir import layouts
from microgen.graph.ir.graph import Array, ArrayType, DType, Graph, Node, TensorLayout, frozen


@dataclass(slots=True)
class Changes:
    """A graph with its new types, layouts and constants. ``changed`` has new nodes by the first
    outputs of the nodes that they replace, ``gone`` the first outputs of nodes that disappear."""

    graph: Graph
    types: dict[str, ArrayType] = field(init=False)
    laid_out: dict[str, TensorLayout] = field(init=False)
    constants: dict[str, Array] = field(init=False)
    changed: dict[str, Node] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.types, self.laid_out = dict(self.graph.types), dict(self.graph.laid_out)
        self.constants = dict(self.graph.constants)

    def tensor(self, wanted: str, kind: ArrayType, shape: Sequence[int] = ()) -> str:
        """A new tensor. Its name is the wanted one if that is free, followed by a shape."""
        name = layouts.fresh(self.graph, wanted, more=self.types, shape=tuple(shape))
        self.types[name] = kind
        return name

    def constant(self, wanted: str, array: Array, kind: ArrayType | None = None) -> str:
        """A new constant. Without a type it has the array's."""
        kind = kind or ArrayType(array.shape, DType(array.dtype.name))
        name = self.tensor(wanted, kind)
        self.constants[name] = frozen(array)
        return name

    def hand_down(self, result: str, first: Node, views: Iterable[Node]) -> None:
        """Make the last of the views compute ``result``, or ``first`` if there are no views. The
        nodes before it compute the same elements in other shapes, so their outputs get new
        names."""
        for view in views:
            own = first.outputs[0]
            # A name of the model stands for the model's values, which these are no longer.
            name = self.tensor(result, self.graph.types[own], self.graph.types[own].shape)
            self.laid_out[name] = layouts.reshaped(self.graph, result)
            self.changed[own] = dataclasses.replace(first, outputs=(name,))
            first = dataclasses.replace(view, inputs=(name,))
        self.changed[first.outputs[0]] = dataclasses.replace(first, outputs=(result,))

    def made(self, **others: Any) -> Graph:
        """The changed graph. ``others`` replace further fields of it, or the nodes."""
        kept = (node for node in self.graph.nodes if node.outputs[0] not in self.gone)
        # A changed node stays at its place, because its readers follow it.
        nodes = tuple(self.changed.get(node.outputs[0], node) for node in kept)
        own = {"types": self.types, "laid_out": self.laid_out, "constants": self.constants}
        return self.graph.replace(**{"nodes": nodes, **own, **others})
