"""A loop whose body is a cell of a recurrent layer, as one recurrent layer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.frontends import recurrent_nodes
from microgen.frontends.cells import Body, RecurrentCell
from microgen.frontends.onnx.move_nodes import cut
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.rounds import LoopCounter
from microgen.graph.builder import BuiltTensor


@dataclass(frozen=True, slots=True)
class RecurrentLoop:
    """A loop of ``rounds`` rounds: the first values, the counters among them by their positions,
    and the positions of tensors that no round changes."""

    node: OnnxNode
    start: Sequence[BuiltTensor]
    counters: Mapping[int, LoopCounter]
    kept: Collection[int]
    rounds: int

    def fits(self, found: Body) -> bool:
        """Whether every round takes the next row of the data, and writes the next row of a list."""
        cell = found.cell
        if cell.data not in self.kept or cell.counter not in self.counters:
            return False
        counter, shape = self.counters[cell.counter], self.start[cell.data].shape
        ends = counter.start, counter.start + counter.step * (self.rounds - 1)
        is_inside = 0 <= min(ends) <= max(ends) < shape[0]
        is_row = len(shape) == 3 and shape[1] == self.start[cell.hidden].shape[0]
        lists = [
            self.counters.get(place) == LoopCounter(0, 1) and self.start[i].shape[0] == self.rounds
            for i, place in found.lists.items()
        ]
        return abs(counter.step) == 1 and is_inside and is_row and all(lists)

    def results(self, found: Body) -> list[BuiltTensor]:
        """The values after the last round. A counter, which nothing may read, remains as it is."""
        states = self._states(found)
        first = self.rounds if found.lists else 0
        made = list[BuiltTensor]()
        for i, start in enumerate(self.start):
            if i in self.counters:
                counter = self.counters[i]
                last = np.full(start.shape, counter.start + counter.step * self.rounds)
                made.append(self.node.constant(last.astype(counter.dtype), "last"))
            elif i in self.kept:
                made.append(start)
            else:
                row, count = first + (i == found.cell.cell), 1
                if i in found.lists:
                    row, count = 0, self.rounds
                part = cut(self.node, states, 0, row, count)
                made.append(self.node.reshaped(part, start.shape))
        return made

    def _states(self, found: Body) -> BuiltTensor:
        """The hidden states of all rounds if a list keeps them, the last one, and the last cell
        state."""
        node, cell = self.node, found.cell
        counter, data = self.counters[cell.counter], self.start[cell.data]
        rows = cut(node, data, 0, counter.start, self.rounds, counter.step)
        layer = recurrent_nodes.of(cell, *rows.shape[:2], keeps=bool(found.lists))
        constants = [
            node.constant(value, role, quant) for role, (value, quant) in layer.constants.items()
        ]
        return node.emit(layer.op, layer.attrs, [rows, *constants, *self._first(cell)])

    def _first(self, cell: RecurrentCell) -> list[BuiltTensor]:
        """The states before the first step, without zeros at the end."""
        states = [self.start[i] for i in (cell.hidden, cell.cell) if i is not None]
        while states and states[-1].value is not None and not states[-1].value.any():
            states.pop()
        return states
