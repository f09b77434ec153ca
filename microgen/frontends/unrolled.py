"""Finds cells of a recurrent layer that follow one another, as converters write them for each step
(unrolled), so that one layer computes all of them.

The state that a step reads is the input of a product with weights that all steps have. Between two
such states there must be one and the same cell (``cells``), from the same row of the step's input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from microgen.frontends import cells, first_steps
from microgen.frontends.cell_values import Leaf, Row, Term, Values
from microgen.frontends.cells import RecurrentCell
from microgen.graph.ir.graph import Graph, Node

_FEWEST = 3  # steps of a chain
_TRIED = 256  # tensors that may be the last state
_DENSE = ("nn.dense", "nn.dense_hybrid")
_FUNCTIONS = ("sigmoid", "tanh", "clip")
_HIDDEN, _CELL, _DATA, _COUNTER = range(4)  # the inputs of a step


@dataclass(frozen=True, slots=True)
class UnrolledStep:
    """One cell: its states and its input, and the first outputs of its nodes."""

    cell: RecurrentCell
    before: tuple[str, ...]  # the hidden state and the cell state; empty: zeros
    row: str
    after: tuple[str, ...]
    inside: frozenset[str]


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps with one cell, each of which begins with the states that the step before it leaves."""

    steps: tuple[UnrolledStep, ...]

    @property
    def inside(self) -> set[str]:
        """The first outputs of all nodes."""
        return {name for step in self.steps for name in step.inside}


def chains(graph: Graph) -> Iterator[Chain]:
    """The chains of a graph, which may have nodes in common."""
    search = _Search(graph)
    for states in search.candidates():
        found = search.chain(states)
        if found is not None:
            yield found


@dataclass(slots=True)
class _Search:
    graph: Graph
    made: dict[str, Node] = field(init=False)
    place: dict[str, int] = field(init=False)
    keys: dict[str, str] = field(default_factory=dict)  # of weights

    def __post_init__(self) -> None:
        self.made = self.graph.producer_of()
        nodes = self.graph.nodes
        self.place = {name: i for i, node in enumerate(nodes) for name in node.outputs}

    def candidates(self) -> Iterator[list[str]]:
        """The tensors that are multiplied by the same weights, in order."""
        found: dict[str, list[str]] = {}
        for node in self.graph.nodes:
            key = self.weights(node)
            if key:
                found.setdefault(key, []).append(self.root(node.inputs[0]))
        seen = set[tuple[str, ...]]()
        for states in found.values():
            each = list(dict.fromkeys(states))
            if len(each) >= _FEWEST - 1 and tuple(each) not in seen:
                seen.add(tuple(each))
                yield each

    def weights(self, node: Node) -> str:
        """A name for the weights of a product, which is equal for equal ones; empty if the node is
        not a product with a constant of its own."""
        if node.op not in _DENSE:
            return ""
        name = node.inputs[1]
        if name not in self.graph.constants or name in self.graph.stored:
            return ""
        if name not in self.keys:
            value, kind = self.graph.constants[name], self.graph.types[name]
            digest = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
            self.keys[name] = f"{kind} {digest}"
        return self.keys[name]

    def root(self, name: str) -> str:
        """The tensor of which a tensor is another view."""
        while name in self.made and self.made[name].op == "reshape":
            name = self.made[name].inputs[0]
        return name

    def chain(self, states: Sequence[str]) -> Chain | None:
        """The chain through some states, which are its first ones."""
        steps = list[UnrolledStep]()
        for before, after in pairwise(states):
            step = self._following(steps, before, after)
            if step is None:
                break
            steps.append(step)
        if not steps:
            return None
        last = self._last(steps)
        steps += [last] if last else []
        first = self._first(steps[0])
        steps = [first, *steps] if first else steps
        return Chain(tuple(steps)) if len(steps) >= _FEWEST else None

    def _following(
        self, steps: Sequence[UnrolledStep], before: str, after: str
    ) -> UnrolledStep | None:
        """The step between two hidden states, if it has the cell of the steps before it."""
        if steps and steps[-1].after[0] != before:
            return None
        kind = steps[0].cell.kind if steps else ""
        known = steps[-1].after[1:] if steps else ()
        cell_states = known if kind == "lstm" else ("",) if kind else self._cell_states(before)
        for cell_state in cell_states:
            step = self._step((before, cell_state) if cell_state else (before,), after)
            if step and (not steps or cells.are_equal(step.cell, steps[0].cell)):
                return step
        return None

    def _cell_states(self, hidden: str) -> list[str]:
        """The tensors that may be the cell state next to a hidden state; "" for none."""
        node = self.made.get(hidden)
        if node is not None and node.op != "multiply":
            return [""]
        return [*self._shown(hidden), ""] if node else [*self._given(hidden), ""]

    def _given(self, hidden: str) -> list[str]:
        """Inputs, variables and constants of the same type as a hidden state that is one."""
        every = (*self.graph.inputs, *self.graph.variables, *self.graph.constants)
        kind = self.graph.types[hidden]
        return [name for name in every if name != hidden and self.graph.types[name] == kind]

    def _shown(self, hidden: str) -> list[str]:
        """The arguments of functions whose product is a hidden state."""
        made = (self.made.get(name) for name in self.made[hidden].inputs)
        return [node.inputs[0] for node in made if node is not None and node.op in _FUNCTIONS]

    def _step(self, before: tuple[str, ...], after: str) -> UnrolledStep | None:
        nodes = self._between(before, after)
        rows = self._rows(nodes, before)
        if len(rows) != 1:
            return None
        (row,) = rows
        own = self._until(after, {*before, row})
        shape = self.graph.types[before[0]].shape
        batches = int(np.prod(shape[:-1]))
        leaves: dict[int, Term | None] = {i: Leaf(i) for i in range(len(before))}
        known = {name: leaf for name, leaf in zip(before, leaves.values(), strict=True) if leaf}
        values = Values(self.graph, batches, own, {**known, row: Row(_DATA, _COUNTER)})
        places = self._shown(after) if len(before) > 1 and self._is_product(after) else [""]
        for place in places:
            terms = {_HIDDEN: values.of(after)}
            if place:
                terms[_CELL] = values.of(place)
            cell = cells.of_terms(terms, leaves, _HIDDEN)
            if cell is not None and (cell.cell is None) == (len(before) == 1):
                names = frozenset(node.outputs[0] for node in own)
                return UnrolledStep(cell, before, row, (after, place) if place else (after,), names)
        return None

    def _is_product(self, name: str) -> bool:
        return name in self.made and self.made[name].op == "multiply"

    def _until(self, result: str, ends: Iterable[str]) -> list[Node]:
        """The nodes that compute a tensor from the tensors ``ends``, in order."""
        stop, found, waiting = set(ends), dict[int, Node](), [result]
        while waiting:
            name = waiting.pop()
            place = self.place.get(name)
            if name in stop or place is None or place in found:
                continue
            found[place] = self.graph.nodes[place]
            waiting += found[place].inputs
        return [found[place] for place in sorted(found)]

    def _between(self, before: tuple[str, ...], after: str) -> list[Node]:
        """The nodes that compute a state from the one before; products of other tensors end the
        search."""
        nodes = self._until(after, before)
        reached = set(before)
        for node in nodes:
            if not reached.isdisjoint(node.inputs):
                reached.update(node.outputs)
        ends = [
            node.inputs[0] for node in nodes if node.op in _DENSE and node.inputs[0] not in reached
        ]
        return self._until(after, {*before, *ends})

    def _rows(self, nodes: Sequence[Node], before: tuple[str, ...]) -> set[str]:
        """The tensors that the nodes multiply and do not compute."""
        own = {name for node in nodes for name in node.outputs} | set(before)
        given = {node.inputs[0] for node in nodes if node.op in _DENSE}
        return {name for name in given if name not in own}

    def _last(self, steps: Sequence[UnrolledStep]) -> UnrolledStep | None:
        """The step after the last state that is multiplied by the weights of all states."""
        last = steps[-1].after[0]
        op, kind = self.made[last].op, self.graph.types[last]
        reached, tried = {last}, 0
        for node in self.graph.nodes[self.place[last] + 1 :]:
            if reached.isdisjoint(node.inputs):
                continue
            reached.update(node.outputs)
            if node.op == op and self.graph.types[node.outputs[0]] == kind:
                step = self._following(steps, last, node.outputs[0])
                if step is not None:
                    return step
                tried += 1
                if tried > _TRIED:
                    return None
        return None

    def _first(self, second: UnrolledStep) -> UnrolledStep | None:
        """The step before the first state that is multiplied, if it begins with zeros: then the
        converter has left out what is 0."""
        after, cell = second.before, second.cell
        # Zeros times infinite weights would not be zeros.
        is_finite = all(np.isfinite(each.values).all() for each in cell.recurrent)
        if after[0] not in self.made or not is_finite:
            return None
        rows = self._rows_of_first(after[0], second)
        if len(rows) != 1:
            return None
        (row,) = rows
        own = self._until(after[0], {row})
        batches = int(np.prod(self.graph.types[after[0]].shape[:-1]))
        values = Values(self.graph, batches, own, {row: Row(_DATA, _COUNTER)})
        terms = [values.of(name) for name in after]
        if not first_steps.is_first(cell, terms):
            return None
        names = frozenset(node.outputs[0] for node in own)
        return UnrolledStep(cell, (), row, after, names)

    def _rows_of_first(self, after: str, second: UnrolledStep) -> set[str]:
        """The tensors that are multiplied by the weights of the second step's row."""
        own = [self.made[name] for name in second.inside]
        products = [node for node in own if node.op in _DENSE]
        weights = {self.weights(node) for node in products if node.inputs[0] == second.row}
        nodes = self._until(after, ())
        return {n.inputs[0] for n in nodes if self.weights(n) in weights - {""}}
