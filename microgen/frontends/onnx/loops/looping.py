"""Loops of ``.onnx`` models while they are imported: the values that one round leaves for the next,
what a round computes, and what becomes of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.frontends import cells, rounds
from microgen.frontends.onnx.composing import binary, compared
from microgen.frontends.onnx.loops import recurrent_loops
from microgen.frontends.onnx.loops.bodies import InnerGraph
from microgen.frontends.onnx.move_nodes import joined
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType, Graph
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs
from microgen.graph.ops.moves.slices import DynamicUpdateSliceAttrs

UNROLLED = 16
"""The most layers of a loop, in all rounds, that are put one after the other instead. Layers of all
rounds share functions, so their calls are less code than a loop and the copies of its values."""

_Captured = tuple[BuiltTensor, BuiltTensor]  # outside and inside
Results = dict[int, BuiltTensor]
"""The outputs of a node by their numbers, as far as something reads them."""


def wanted(node: OnnxNode, output: int) -> int | None:
    """The number of an output that something reads, otherwise None."""
    return output if output < len(node.outputs) and node.outputs[output] else None


@dataclass(eq=False, slots=True)
class LoopValue:
    """A value of a loop: before the first round, in a round, and after it. ``result`` is the number
    of the node's output that it is after the last round."""

    start: BuiltTensor
    inner: BuiltTensor
    after: BuiltTensor
    result: int | None = None


@dataclass(slots=True)
class OnnxLoop:
    """A loop while it is imported."""

    node: OnnxNode
    inside: InnerGraph = field(init=False)
    values: list[LoopValue] = field(default_factory=list)
    # The counters of rows by the first index, of which all rows in one order share one.
    _places: dict[tuple[int, int], BuiltTensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inside = InnerGraph(self.node)

    # What a round computes

    def carry(
        self, start: BuiltTensor, inner: BuiltTensor, after: BuiltTensor, result: int | None
    ) -> None:
        """Add a value. UnsupportedError if it changes its shape, ModelError if its dtype."""
        if start.dtype is not after.dtype:
            raise self.node.invalid(f"has a body that makes {after.type} of {start.type}")
        if start.shape != after.shape:
            raise self.node.unsupported(
                f"makes {after.type} of a value that is {start.type}",
                supported="such values in loops of a constant number of rounds",
            )
        self.values.append(LoopValue(start, inner, after, result))

    def counter(self, first: int, step: int, dtype: DType = DType.INT32) -> BuiltTensor:
        """A new integer that is ``first`` in the first round and grows by ``step``."""
        start = self.node.constant(np.array(first, dtype.numpy), "first")
        inner = self.inside.declared("round", start.type)
        self.carry(start, inner, binary(self.inside.layer, "add", inner, step), None)
        return inner

    def row(self, data: BuiltTensor, axis: int, *, backwards: bool) -> BuiltTensor:
        """Inside, the part of ``data``, a tensor around the node, that a round reads."""
        place = self._place(data.shape[axis], backwards=backwards)
        return self.inside.layer.emit("take", TakeAttrs(axis), (self.inside.taken(data), place))

    def stack(
        self, row: BuiltTensor, axis: int, count: int, result: int, *, backwards: bool
    ) -> None:
        """Add an output that has the rows of all ``count`` rounds along a new axis."""
        before, after = row.shape[:axis], row.shape[axis:]
        start = self.node.constant(np.zeros((*before, count, *after), row.dtype.numpy), "rows")
        inner, layer = self.inside.declared("rows", start.type), self.inside.layer
        sides = [np.zeros(len(side), np.int32) for side in (before, after)]
        zeros = [layer.constant(side, "zeros") for side in sides]
        place = layer.reshaped(self._place(count, backwards=backwards), (1,))
        index = joined(layer, [p for p in (zeros[0], place, zeros[1]) if p.type.size], 0)
        inputs = (inner, layer.reshaped(row, (*before, 1, *after)), index)
        written = layer.emit("dynamic_update_slice", DynamicUpdateSliceAttrs(), inputs)
        self.carry(start, inner, written, result)

    def _place(self, count: int, *, backwards: bool) -> BuiltTensor:
        way = (count - 1, -1) if backwards else (0, 1)
        if way not in self._places:
            self._places[way] = self.counter(*way)
        return self._places[way]

    def count(self, condition: BuiltTensor, most: int | None) -> int | None:
        """The number of rounds if constants decide it: ``condition``, inside, says whether there is
        another one, and ``most`` is their greatest number, if there is one."""
        if condition.value is not None:
            return most if condition.value.all() else 1
        # It is computed in a round, and decides about the next one: a value, which begins as true.
        going = self.inside.declared("going", condition.type)
        ports, start, results = self._round(self.inside.inputs())
        true = np.full(condition.shape, fill_value=True)
        start = [self.node.constant(true, "true"), *start]
        body = self.inside.graph([going, *ports], [condition, *results])
        kept = range(1 + len(self.values), len(start))
        test = body.replace(nodes=(), outputs=body.inputs[:1])
        return rounds.number(test, body, start, kept, self.node.where, most)

    # What becomes of it

    def ran(self, count: int) -> Results:
        """The results of ``count`` rounds."""
        self._keep_read(())
        if not self.values:
            return {}  # only values that no round changes are read
        ports, starts, results = self._round(self._captured(()))
        body = self.inside.graph(ports, results)
        counted = rounds.counters(body, starts)
        kept = range(len(self.values), len(ports))
        found = cells.recognised(body, (*counted, *kept))
        if found is not None:
            layer = recurrent_loops.RecurrentLoop(self.node, starts, counted, kept, count)
            if layer.fits(found):
                return self._results(layer.results(found))
        return self._added(LoopAttrs(self._body(body), count), starts)

    def ran_while(
        self, going: BuiltTensor | None, limit: BuiltTensor | None, passed: BuiltTensor, most: int
    ) -> Results:
        """The results of up to ``most`` rounds. Before each of them ``going`` is true, a value of
        the loop inside, and the number of rounds that have ``passed`` is less than ``limit``, a
        tensor around the node."""
        own = None if limit is None else self.inside.taken(limit)
        needed = [tensor for tensor in (going, own, passed if own else None) if tensor is not None]
        names = {tensor.name for tensor in needed}
        self._keep_read(names)
        ports, starts, results = self._round(self._captured(names))
        body = self.inside.graph(ports, results)
        test = self.inside.next_to(body)
        goes = going
        if own is not None:
            goes = compared(test.layer, "less", passed, test.layer.reshaped(own, ()))
            if going is not None:
                operands = (test.layer.reshaped(going, ()), goes)
                goes = test.layer.emit("logical_and", LogicalAttrs(), operands)
        assert goes is not None, "something ends the loop"
        condition = test.graph([each for each in needed if not each.is_constant], [goes])
        return self._added(LoopAttrs(self._body(body), most, condition), starts)

    def _keep_read(self, names: Collection[str]) -> None:
        """Keep the values that are results, those called ``names``, and those that these need."""
        kept = [v for v in self.values if v.result is not None or v.inner.name in names]
        left = [v for v in self.values if v not in kept]
        while True:
            read = self.inside.read([value.after for value in kept])
            more = [value for value in left if value.inner.name in read]
            if not more:
                break
            kept += more
            left = [value for value in left if value not in more]
        self.values = [value for value in self.values if value in kept]

    def _captured(self, names: Collection[str]) -> list[_Captured]:
        read = self.inside.read([value.after for value in self.values])
        pairs = self.inside.inputs()
        return [pair for pair in pairs if pair[1].name in read or pair[1].name in names]

    def _round(
        self, captured: Sequence[_Captured]
    ) -> tuple[list[BuiltTensor], list[BuiltTensor], list[BuiltTensor]]:
        """The values and the captured tensors in a round, before the first one, and after it."""
        insides = [inner for _, inner in captured]
        return (
            [*(value.inner for value in self.values), *insides],
            [*(value.start for value in self.values), *(outer for outer, _ in captured)],
            [*(value.after for value in self.values), *insides],
        )

    def _body(self, graph: Graph) -> Graph:
        """The graph of a round as loops have it."""
        count = len(self.values)
        updates = dict(zip(graph.inputs[:count], graph.outputs[:count], strict=True))
        variables, inputs = graph.inputs[:count], graph.inputs[count:]
        return graph.replace(inputs=inputs, outputs=(), variables=variables, updates=updates)

    def _added(self, attrs: LoopAttrs, starts: Sequence[BuiltTensor]) -> Results:
        kinds = [value.start.type for value in self.values]
        return self._results(self.node.emit_several("loop", attrs, starts, kinds))

    def _results(self, made: Sequence[BuiltTensor]) -> Results:
        pairs = zip(self.values, made, strict=False)
        return {value.result: tensor for value, tensor in pairs if value.result is not None}
