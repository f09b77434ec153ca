"""Replaces chains of equal cells by recurrent layers."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from microgen.frontends import recurrent_nodes, unrolled
from microgen.frontends.spread import spread
from microgen.frontends.unrolled import Chain
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import (
    Array,
    ArrayType,
    Attrs,
    DType,
    Graph,
    Node,
    Quant,
    constant,
    live_nodes,
)
from microgen.graph.ops import registry
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs
from microgen.graph.stored import Constants

Shape = tuple[int, ...]


def rolled(graph: Graph) -> Graph:
    """The graph with a recurrent layer in the place of each chain of at least three equal cells
    whose other values nothing reads."""
    for _ in range(len(graph.nodes)):
        # Converters split off gates that a first step does not need.
        live = graph.replace(nodes=_live(graph.nodes, graph))
        found = _first_fit(live)
        if found is None:
            return graph
        graph = found
    return graph


def _first_fit(graph: Graph) -> Graph | None:
    """The graph with a layer in the place of one chain; None if there is no chain."""
    for chain in unrolled.chains(graph):
        if _fits(graph, chain):
            return _Rolling(graph, chain).made()
    for other, products in spread(graph):
        live = other.replace(nodes=_live(other.nodes, other))
        for chain in unrolled.chains(live):
            # A first step may remain by itself.
            if len(products - chain.inside) <= 1 and _fits(live, chain):
                return _Rolling(live, chain).made()
    return None


def _live(given: Iterable[Node], graph: Graph) -> tuple[Node, ...]:
    """The nodes on which the results depend, and those that update variables."""
    nodes, wanted = tuple(given), set(graph.results)
    for node in nodes:
        if registry()[node.op].writes(node.attrs, len(node.inputs)):
            wanted.update(node.outputs)
    return live_nodes(nodes, wanted)


def _fits(graph: Graph, chain: Chain) -> bool:
    """Whether nothing else reads what the chain computes, except for hidden states and the last
    cell state; and no row depends on a state of the chain."""
    inside, visible = chain.inside, {step.after[0] for step in chain.steps}
    visible.update(chain.steps[-1].after)
    made = {n: node for node in graph.nodes for n in node.outputs}
    own = {out for name in inside for out in made[name].outputs}
    read = set(graph.results)
    for node in graph.nodes:
        if node.outputs[0] not in inside:
            read.update(node.inputs)
    if (own & read) - visible:
        return False
    sizes = {graph.types[step.row].size for step in chain.steps}
    return len(sizes) == 1 and own.isdisjoint(_needed([s.row for s in chain.steps], made))


def _needed(names: Iterable[str], made: Mapping[str, Node]) -> set[str]:
    """Tensors and everything that they are computed from."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += made[name].inputs if name in made else ()
    return found


@dataclass(slots=True)
class _Rolling:
    """The replacement of one chain."""

    graph: Graph
    chain: Chain
    nodes: list[Node] = field(default_factory=list)
    types: dict[str, ArrayType] = field(init=False)
    constants: Constants = field(init=False)

    def __post_init__(self) -> None:
        self.types, self.constants = dict(self.graph.types), Constants(self.graph.constants)

    def made(self) -> Graph:
        """The graph without the chain's nodes, and with the layer."""
        steps, cell = self.chain.steps, self.chain.steps[0].cell
        last = steps[-1].after
        read = self._read()
        count, cells = len(steps), cell.recurrent[0].values.shape[0]
        batches = self.types[last[0]].size // cells
        keeps = any(step.after[0] in read for step in steps[:-1])
        data = self._rows(batches)
        layer = recurrent_nodes.of(cell, count, batches, keeps=keeps)
        inputs = [data, *(self._constant(role, *own) for role, own in layer.constants.items())]
        inputs += [self._reshaped(name, (batches, cells)) for name in self._states()]
        states = self._add(layer.op, layer.attrs, inputs, f"{last[0]}/states")
        first = count if keeps else 0
        places = {name: first + number for number, name in enumerate(last)}
        if keeps:
            # The last row is the last hidden state, too.
            places |= {step.after[0]: number for number, step in enumerate(steps)}
        for name, place in places.items():
            if name in read:
                self._give(name, states, place)
        return self._graph()

    def _states(self) -> Sequence[str]:
        """The states before the first step, without zeros at the end."""
        states, known = list(self.chain.steps[0].before), self.graph.constants
        while states and states[-1] in known and not known[states[-1]].any():
            states.pop()
        return states

    def _read(self) -> set[str]:
        inside = self.chain.inside
        outside = (node for node in self.graph.nodes if node.outputs[0] not in inside)
        return {*self.graph.results, *(name for node in outside for name in node.inputs)}

    def _rows(self, batches: int) -> str:
        """The inputs of all steps, [steps, batches, features]."""
        rows = [step.row for step in self.chain.steps]
        features = self.types[rows[0]].size // batches
        whole = self._one_tensor(rows, (batches, features))
        if whole is not None:
            return whole
        each = [self._reshaped(row, (1, batches, features)) for row in rows]
        return self._add("concatenate", ConcatenateAttrs(0), each, f"{rows[0]}/rows")

    def _one_tensor(self, rows: Sequence[str], row: Shape) -> str | None:
        """The tensor [n, batches, features] of which the rows are consecutive ones, or a part of
        it; None if there is none."""
        made = self.graph.producer_of()
        places = list[tuple[str, int]]()
        for name in rows:
            while name in made and made[name].op == "reshape":
                name = made[name].inputs[0]
            node = made.get(name)
            if node is None or not isinstance(node.attrs, StridedSliceAttrs):
                return None
            source, attrs = node.inputs[0], node.attrs
            shape = self.types[source].shape
            axis = 1 if row[0] == 1 and shape[:1] == (1,) and len(shape) == 3 else 0
            wanted = (1, *row) if axis == 0 else (1, 1, row[1])
            others = [b for i, b in enumerate(attrs.begin) if i != axis]
            if len(shape) != 3 or attrs.shape != wanted or any(others) or shape[2] != row[1]:
                return None
            places.append((source, attrs.begin[axis]))
        (source, first), step = places[0], places[1][1] - places[0][1]
        expected = [(source, first + step * i) for i in range(len(rows))]
        if places != expected or abs(step) != 1:
            return None
        return self._cut(source, first, step, (len(rows), *row))

    def _cut(self, source: str, first: int, step: int, shape: Shape) -> str:
        rows = self.types[source].size // (shape[1] * shape[2])
        whole = self._reshaped(source, (rows, *shape[1:]))
        if (first, step, shape[0]) == (0, 1, rows):
            return whole
        attrs = StridedSliceAttrs((first, 0, 0), (step, 1, 1), shape)
        return self._add("strided_slice", attrs, [whole], f"{source}/rows")

    def _give(self, name: str, states: str, place: int) -> None:
        """Let a tensor be a row of the states."""
        shape = self.types[states].shape
        row = states
        if shape[0] > 1:
            attrs = StridedSliceAttrs((place, 0, 0), (1, 1, 1), (1, *shape[1:]))
            row = self._add("strided_slice", attrs, [states], f"{name}/cut")
        self._node("reshape", ReshapeAttrs(self.types[name].shape), [row], name)

    def _reshaped(self, name: str, shape: Shape) -> str:
        if self.types[name].shape == shape:
            return name
        return self._add("reshape", ReshapeAttrs(shape), [name], f"{name}/view")

    def _constant(self, role: str, value: Array, quant: Quant | None) -> str:
        wanted = f"{self.chain.steps[-1].after[0]}/{role}"
        name = layouts.fresh(self.graph, wanted, more=self.types)
        self.types[name] = ArrayType(value.shape, DType(value.dtype.name), quant)
        self.constants[name] = constant(value)
        return name

    def _add(self, op: str, attrs: Attrs, inputs: Sequence[str], wanted: str) -> str:
        """A new node, with a new tensor."""
        name = layouts.fresh(self.graph, wanted, more=self.types)
        (shape,) = registry()[op].infer(attrs, tuple(self.types[each] for each in inputs))
        self.types[name] = ArrayType(shape, DType.FLOAT32)
        self._node(op, attrs, inputs, name)
        return name

    def _node(self, op: str, attrs: Attrs, inputs: Sequence[str], result: str) -> None:
        last = self.graph.producer_of()[self.chain.steps[-1].after[0]]
        self.nodes.append(Node(op, tuple(inputs), (result,), attrs, last.origin))

    def _joined(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """The nodes; a concatenation of consecutive rows of the states is a part of these."""
        made = {name: node for node in nodes for name in node.outputs}
        for node in nodes:
            found = self._part(node, made)
            if found is None:
                yield node
                continue
            source, first = found
            count, shape = len(node.inputs), self.types[source].shape
            attrs = StridedSliceAttrs((first, 0, 0), (1, 1, 1), (count, *shape[1:]))
            name = layouts.fresh(self.graph, f"{node.outputs[0]}/rows", more=self.types)
            self.types[name] = ArrayType(attrs.shape, DType.FLOAT32)
            yield Node("strided_slice", (source,), (name,), attrs, node.origin)
            view = ReshapeAttrs(self.types[node.outputs[0]].shape)
            yield Node("reshape", (name,), node.outputs, view, node.origin)

    def _part(self, node: Node, made: Mapping[str, Node]) -> tuple[str, int] | None:
        """The tensor and the first of its rows of which a node joins as many as it has inputs."""
        if not isinstance(node.attrs, ConcatenateAttrs):
            return None
        if any(n != 1 for n in self.types[node.inputs[0]].shape[: node.attrs.axis]):
            return None
        places = [self._row(name, made) for name in node.inputs]
        if places[0] is None:
            return None
        source, first = places[0]
        return places[0] if places == [(source, first + i) for i in range(len(places))] else None

    def _row(self, name: str, made: Mapping[str, Node]) -> tuple[str, int] | None:
        """The tensor of which a tensor is one row along the first axis, and the row's number."""
        while name in made and made[name].op == "reshape":
            name = made[name].inputs[0]
        node = made.get(name)
        if node is None or not isinstance(node.attrs, StridedSliceAttrs):
            return None
        attrs, shape = node.attrs, self.types[node.inputs[0]].shape
        if len(shape) != 3 or attrs.shape != (1, *shape[1:]) or any(attrs.begin[1:]):
            return None
        return node.inputs[0], attrs.begin[0]

    def _graph(self) -> Graph:
        inside = self.chain.inside
        kept = [node for node in self.graph.nodes if node.outputs[0] not in inside]
        nodes = _live(self._joined(_ordered([*kept, *self.nodes])), self.graph)
        names = {*self.graph.inputs, *self.graph.results, *self.graph.variables}
        names.update(n for node in nodes for n in (*node.inputs, *node.outputs))
        graph = self.graph
        return graph.replace(
            nodes=nodes,
            types={name: kind for name, kind in self.types.items() if name in names},
            constants=self.constants.only(n for n in self.constants if n in names),
            int4=graph.int4 & names,
            stored={name: own for name, own in graph.stored.items() if name in names},
        )


def _ordered(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes in execution order; those that may come in any order keep theirs."""
    made = {name: i for i, node in enumerate(nodes) for name in node.outputs}
    waits = [{made[name] for name in node.inputs if name in made} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for i, own in enumerate(waits):
        for before in own:
            readers[before].append(i)
    ready = [i for i, own in enumerate(waits) if not own]
    heapq.heapify(ready)
    order = list[Node]()
    while ready:
        i = heapq.heappop(ready)
        order.append(nodes[i])
        for after in readers[i]:
            waits[after].discard(i)
            if not waits[after]:
                heapq.heappush(ready, after)
    assert len(order) == len(nodes), "no row depends on the chain"
    return tuple(order)
