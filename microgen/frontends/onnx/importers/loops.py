"""Loop: a graph that is computed in rounds, whose number may depend on data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto

from microgen.base.errors import UnsupportedError, short
from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.loops import bodies, looping, unrolling
from microgen.frontends.onnx.loops.looping import OnnxLoop, Results
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.control.loop import MOST_ROUNDS


def _loop(node: OnnxNode) -> Value:
    made = _Loop.of(node)
    try:
        return tuple(made.outputs())
    except UnsupportedError as error:
        if made.count == 0:
            raise
        return tuple(unrolling.instead(node, error, made.unrolled))


@dataclass(slots=True)
class _Loop:
    """A Loop: its limit and its first condition, with the greatest number of rounds if constants
    say it; its first values, and its body. ``count`` is the number of rounds if it is known."""

    node: OnnxNode
    limit: BuiltTensor | None
    first: BuiltTensor | None
    most: int | None
    carried: Sequence[BuiltTensor]
    body: GraphProto
    count: int | None = None

    @staticmethod
    def of(node: OnnxNode) -> _Loop:
        """The node as a loop. ModelError if its operands and its body do not fit."""
        limit, first = node.optional(0), node.optional(1)
        for tensor, what in ((limit, "number of iterations"), (first, "condition")):
            if tensor is not None and tensor.type.size != 1:
                raise node.invalid(f"has a {what} of {tensor.type}; one element is expected")
        most = None
        if limit is not None and limit.is_constant:
            most = max(0, int(move_nodes.number_of(node, 0, "iterations")))
        carried = [node.tensor(i) for i in range(2, len(node.operands))]
        body = bodies.graph_of(node, "body")
        if len(body.input) != 2 + len(carried) or len(body.output) <= len(carried):
            raise node.invalid(
                f"has a body of {len(body.input)} inputs and {len(body.output)} outputs for "
                f"{len(carried)} values"
            )
        is_over = first is not None and first.value is not None and not first.value.any()
        count = 0 if is_over or most == 0 else None
        return _Loop(node, limit, first, most, carried, body, count)

    def unrolled(self) -> Sequence[BuiltTensor]:
        """The outputs of rounds that are imported one after the other."""
        for each in (self.limit, self.first):
            if each is not None and not each.is_constant:
                raise self.node.unsupported("has a computed end", supported="known iterations")
        return unrolling.of_loop(self.node, self.carried, self.most)

    def outputs(self) -> Sequence[BuiltTensor]:
        """The outputs, of which those that nothing reads may be any tensors."""
        loop, first = OnnxLoop(self.node), len(self.carried)
        passed = loop.counter(0, 1, DType.INT64)
        kept = bodies.unchanged(self.body, 2, 1)
        inner = [
            loop.inside.taken(start) if i in kept else loop.inside.declared(info.name, start.type)
            for i, (start, info) in enumerate(zip(self.carried, self.body.input[2:], strict=True))
        ]
        # In a round the condition has been true.
        truth = loop.inside.layer.constant(np.array(True), "true")
        condition, *made = loop.inside.imported("body", (passed, truth, *inner))
        if condition.dtype is not DType.BOOL or condition.type.size != 1:
            raise self.node.invalid(f"has the condition {condition.type}; one bool is expected")
        if self.count is None:
            for i, (start, own) in enumerate(zip(self.carried, inner, strict=True)):
                if i not in kept:
                    loop.carry(start, own, made[i], looping.wanted(self.node, i))
        return self._finished(loop, passed, condition, made[first:])

    def _finished(
        self,
        loop: OnnxLoop,
        passed: BuiltTensor,
        condition: BuiltTensor,
        rows: Sequence[BuiltTensor],
    ) -> Sequence[BuiltTensor]:
        node, first = self.node, len(self.carried)
        count = self.count if self.count == 0 else self._counted(loop, condition)
        if count is not None and 0 < count * loop.inside.layers() <= looping.UNROLLED:
            return self.unrolled()
        grown = {first + k: row for k, row in enumerate(rows)}
        grown = {i: row for i, row in grown.items() if looping.wanted(node, i) is not None}
        if count is None:
            if grown:
                name = short(node.outputs[min(grown)])
                what = f'has the output "{name}", whose size depends on data'
                raise node.unsupported(what, hint=self._constant_end())
            results = self._while(loop, passed, condition)
        elif count == 0:
            results = {
                i: move_nodes.empty(node, (0, *row.shape), row.dtype) for i, row in grown.items()
            }
        else:
            for i, row in grown.items():
                loop.stack(row, 0, count, i, backwards=False)
            results = loop.ran(count)
        return [results.get(i, other) for i, other in enumerate((*self.carried, *rows))]

    def _constant_end(self) -> str:
        """How the number of rounds becomes constant."""
        ends = [each for each in (self.limit, self.first) if each is not None]
        asked = [each for each in ends if each.name in self.node.walk.inputs]
        if asked and all(each.is_constant or each in asked for each in ends):
            return f"give its value with --bind {short(asked[0].name)}=FILE.npy, or =NUMBERS"
        return "supported: outputs of all rounds if their number is constant"

    def _counted(self, loop: OnnxLoop, condition: BuiltTensor) -> int | None:
        """The number of rounds, if constants decide it."""
        ends = (self.limit, self.first)
        if any(each is not None and not each.is_constant for each in ends):
            return None
        count = loop.count(condition, self.most)
        if count is None and condition.value is not None:
            raise self.node.unsupported("never ends", supported="loops with an end")
        return count

    def _while(self, loop: OnnxLoop, passed: BuiltTensor, condition: BuiltTensor) -> Results:
        """The results of rounds whose number depends on data."""
        node = self.node
        names = list(filter(None, dict.fromkeys((node.name, node.proto.name))))
        given = node.walk.most.of(*names)
        known = [n for n in (given, self.most) if n is not None and n <= MOST_ROUNDS]
        if not known:
            raise node.unsupported(
                "has a number of rounds that depends on data",
                hint=f"give the most rounds: --max-rounds {short(names[0])}=N",
            )
        most = min(known)
        # A constant limit ends the loop only if no smaller number of rounds is given.
        limit = None if self.most is not None and most < self.most else self.limit
        going = None
        if self.first is not None or not condition.is_constant:
            start = self.first or node.constant(np.array(True), "true")
            if condition.value is None or not start.is_constant or not condition.value.all():
                going = loop.inside.declared("condition", start.type)
                after = loop.inside.layer.reshaped(condition, start.shape)
                loop.carry(start, going, after, None)
        return loop.ran_while(going, limit, passed, most)


IMPORTERS = {"Loop": _loop}
