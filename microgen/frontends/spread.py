"""Writes one product of many rows, of which each step of a recurrent layer reads one, as a product
for each row.

Converters multiply the inputs of all steps at once. A product of a row has the same values: sums do
not depend on other rows, and hybrid layers quantize each row by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.graph.ir import layouts
from microgen.graph.ir.graph import ArrayType, Attrs, DType, Graph, Node
from microgen.graph.ops.dense.dense import DenseAttrs, DenseHybridAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

_FEWEST = 3


def spread(graph: Graph) -> Iterator[tuple[Graph, frozenset[str]]]:
    """For each product whose rows are read one by one: the graph in which each row has a product,
    and the first outputs of these."""
    readers: dict[str, list[Node]] = {}
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            readers.setdefault(name, []).append(node)
    for node in graph.nodes:
        if not isinstance(node.attrs, DenseAttrs | DenseHybridAttrs):
            continue
        found = _readers(graph, node, readers)
        if found and len(found.slices) >= _FEWEST and _are_rows(graph, node, found.slices):
            made = _Spreading(graph, node, found)
            yield made.graph_of_rows(), frozenset(made.products)


@dataclass(frozen=True, slots=True)
class _Readers:
    """The slices that read a product, or a view of it, after constants have been ``added``."""

    slices: Sequence[Node]
    added: Sequence[Node]


def _readers(graph: Graph, dense: Node, readers: dict[str, list[Node]]) -> _Readers | None:
    """None if something else reads the product."""
    slices, added, waiting = list[Node](), list[Node](), [dense.outputs[0]]
    while waiting:
        name = waiting.pop()
        own = readers.get(name, [])
        if name in graph.results:
            return None
        for node in own:
            if node.op == "reshape":
                waiting.append(node.outputs[0])
            elif isinstance(node.attrs, StridedSliceAttrs):
                slices.append(node)
            elif len(own) == 1 and not slices and _is_bias(graph, dense, node):
                added.append(node)
                waiting.append(node.outputs[0])
            else:
                return None
    return _Readers(slices, added)


def _is_bias(graph: Graph, dense: Node, node: Node) -> bool:
    """Whether a node adds the same constants to each row."""
    known = [name for name in node.inputs if name in graph.constants]
    if node.op != "add" or len(known) != 1:
        return False
    units = graph.types[dense.inputs[1]].shape[0]
    shape = graph.types[known[0]].shape
    return shape[-1:] == (units,) and graph.types[known[0]].size == units


def _are_rows(graph: Graph, dense: Node, slices: Sequence[Node]) -> bool:
    """Whether each slice has whole rows of the product."""
    units = graph.types[dense.inputs[1]].shape[0]
    for node in slices:
        assert isinstance(node.attrs, StridedSliceAttrs), "they were found by it"
        shape = graph.types[node.inputs[0]].shape
        is_whole = node.attrs.shape[-1:] == (units,) and node.attrs.begin[-1] == 0
        if shape[-1:] != (units,) or not is_whole:
            return False
    return graph.types[dense.outputs[0]].dtype is DType.FLOAT32


@dataclass(slots=True)
class _Spreading:
    graph: Graph
    dense: Node
    readers: _Readers
    products: list[str] = field(default_factory=list)
    types: dict[str, ArrayType] = field(init=False)
    nodes: list[Node] = field(default_factory=list)
    data: dict[tuple[int, ...], str] = field(default_factory=dict)  # by the shape of its view

    def __post_init__(self) -> None:
        self.types = dict(self.graph.types)

    def graph_of_rows(self) -> Graph:
        """The graph with a product for each slice."""
        replaced = {node.outputs[0] for node in self.readers.slices}
        for node in self.graph.nodes:
            if node.outputs[0] in replaced:
                self._row(node)
            else:
                self.nodes.append(node)
        return self.graph.replace(nodes=tuple(self.nodes), types=self.types)

    def _row(self, node: Node) -> None:
        attrs = node.attrs
        assert isinstance(attrs, StridedSliceAttrs), "it is one of the slices"
        features = self.types[self.dense.inputs[1]].shape[1]
        lead = self.types[node.inputs[0]].shape[:-1]
        shape = (*lead, features)
        if shape not in self.data:
            self.data[shape] = self._add(node, self.dense.inputs[0], ReshapeAttrs(shape))
        data = self.data[shape]
        own = dataclasses.replace(attrs, shape=(*attrs.shape[:-1], features))
        row = self._add(node, data, own)
        rows = self._add(node, row, ReshapeAttrs((self.types[row].size // features, features)))
        units = self.types[self.dense.inputs[1]].shape[0]
        count = self.types[rows].shape[0]
        product = self._tensor(node, (count, units))
        inputs = (rows, *self.dense.inputs[1:])
        self.nodes.append(dataclasses.replace(self.dense, inputs=inputs, outputs=(product,)))
        self.products.append(product)
        for added in self.readers.added:
            (bias,) = (name for name in added.inputs if name in self.graph.constants)
            shape = np.broadcast_shapes((count, units), self.types[bias].shape)
            total = self._tensor(node, shape)
            self.nodes.append(dataclasses.replace(added, inputs=(product, bias), outputs=(total,)))
            product = total
        view = ReshapeAttrs(attrs.shape)
        self.nodes.append(Node("reshape", (product,), node.outputs, view, node.origin))

    def _add(self, node: Node, name: str, attrs: ReshapeAttrs | StridedSliceAttrs) -> str:
        shape = attrs.shape
        made = self._tensor(node, shape)
        op = "reshape" if isinstance(attrs, ReshapeAttrs) else "strided_slice"
        own: Attrs = attrs
        self.nodes.append(Node(op, (name,), (made,), own, node.origin))
        return made

    def _tensor(self, node: Node, shape: tuple[int, ...]) -> str:
        name = layouts.fresh(self.graph, f"{node.outputs[0]}/row", more=self.types)
        self.types[name] = ArrayType(shape, DType.FLOAT32)
        return name
