"""Scan: a graph that is computed for each row of tensors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from onnx import GraphProto

from microgen.base.errors import UnsupportedError
from microgen.frontends.onnx import distances, move_nodes
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.loops import bodies, looping, unrolling
from microgen.frontends.onnx.loops.looping import OnnxLoop
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value, fields
from microgen.graph.ops.base import Shape


def _scan(node: OnnxNode) -> Value:
    if node.version < 9:
        raise node.unsupported("has a batch", supported="opset 9 and later")
    operands, scanned = node.tensors(), int(node.attr("num_scan_inputs"))
    body = bodies.graph_of(node, "body")
    if not 1 <= scanned <= len(operands):
        raise node.invalid(f"has {len(operands)} inputs, of which it scans {scanned}")
    made = _Scan(node, body, operands[:-scanned], operands[-scanned:], [], [])
    made.axes = [
        arguments.checked_axis(node, axis, len(data.shape))
        for axis, data in zip(made.numbers("scan_input_axes", scanned), made.data, strict=True)
    ]
    made.backwards = made.numbers("scan_input_directions", scanned)
    lengths = {each.shape[axis] for each, axis in zip(made.data, made.axes, strict=True)}
    if len(lengths) != 1:
        raise node.invalid(f"scans axes of {sorted(lengths)} elements; equal ones are expected")
    (made.count,) = lengths
    if (found := _distances(node, body, operands)) is not None:
        return found
    try:
        return tuple(made.outputs())
    except UnsupportedError as error:
        return tuple(unrolling.instead(node, error, made.unrolled))


def _distances(
    node: OnnxNode, body: GraphProto, operands: Sequence[BuiltTensor]
) -> tuple[BuiltTensor, BuiltTensor] | None:
    """The outputs of a Scan that computes distances, which are one op; None of any other."""
    names = ("input_axes", "input_directions", "output_axes", "output_directions")
    is_plain = not any(any(node.ints(f"scan_{name}", ())) for name in names)
    return distances.scanned(node, body, operands) if is_plain else None


@dataclass(slots=True)
class _Scan:
    """A Scan: its body, first values and data, the axis of each data, and whether its rows are read
    from the last one on. There are ``count`` rounds."""

    node: OnnxNode
    body: GraphProto
    carried: Sequence[BuiltTensor]
    data: Sequence[BuiltTensor]
    axes: Sequence[int]
    backwards: Sequence[int]
    count: int = 0

    def numbers(self, name: str, length: int) -> list[int]:
        """An attribute that has a number for each input or output, by default 0."""
        numbers = list(self.node.ints(name, (0,) * length))
        if len(numbers) != length:
            raise self.node.invalid(f"has the {name} {numbers}; {length} are expected")
        return numbers

    def outputs(self) -> Sequence[BuiltTensor]:
        """The outputs, of which those that nothing reads may be any tensors."""
        loop, first, node = OnnxLoop(self.node), len(self.carried), self.node
        if min(len(self.body.output), len(self.body.input)) < first:
            raise node.invalid(f"has a body of fewer inputs or outputs than its {first} values")
        kept = bodies.unchanged(self.body, 0, 0)
        inner = [
            loop.inside.taken(start) if i in kept else loop.inside.declared(info.name, start.type)
            for i, (start, info) in enumerate(zip(self.carried, self.body.input, strict=False))
        ]
        read = [self._read(loop, k) for k in range(len(self.data))]
        made = loop.inside.imported("body", (*inner, *read))
        if not self.count:
            return (*self.carried, *self._empty(made[first:]))
        for i, (start, own) in enumerate(zip(self.carried, inner, strict=True)):
            if i not in kept:
                loop.carry(start, own, made[i], looping.wanted(node, i))
        if self.count * loop.inside.layers() <= looping.UNROLLED:
            return self.unrolled()
        return self._ran(loop, made)

    def _ran(self, loop: OnnxLoop, made: Sequence[BuiltTensor]) -> Sequence[BuiltTensor]:
        """The outputs of the loop, whose body gives the tensors ``made``."""
        first, shapes = len(self.carried), dict[int, Shape]()
        for i, row in enumerate(made[first:], first):
            axis, back = self._way(row, i - first, len(made) - first)
            if looping.wanted(self.node, i) is not None:
                shapes[i] = (*row.shape[:axis], self.count, *row.shape[axis:])
                # Axes of one element may as well come after the new one.
                place = 0 if math.prod(row.shape[:axis]) == 1 else axis
                loop.stack(row, place, self.count, i, backwards=back)
        results = {
            i: self.node.reshaped(tensor, shapes.get(i, tensor.shape))
            for i, tensor in loop.ran(self.count).items()
        }
        return [results.get(i, other) for i, other in enumerate((*self.carried, *made[first:]))]

    def _read(self, loop: OnnxLoop, number: int) -> BuiltTensor:
        """Inside, the row of an input that a round reads."""
        data, axis = self.data[number], self.axes[number]
        if not self.count:
            kind = dataclasses.replace(data.type, shape=_without(data.shape, axis))
            return loop.inside.declared("row", kind)
        if math.prod(data.shape[:axis]) == 1:
            # The axis moves to the front, which moves nothing in memory.
            data, axis = self.node.reshaped(data, (self.count, *_without(data.shape, axis))), 0
        return loop.row(data, axis, backwards=bool(self.backwards[number]))

    def _way(self, row: BuiltTensor, number: int, outputs: int) -> tuple[int, bool]:
        """The new axis along which an output has the rows of all rounds, and whether the first
        round's row is the last one."""
        axes = self.numbers("scan_output_axes", outputs)
        ways = self.numbers("scan_output_directions", outputs)
        axis = arguments.checked_axis(self.node, axes[number], len(row.shape) + 1)
        return axis, bool(ways[number])

    def _empty(self, rows: Sequence[BuiltTensor]) -> list[BuiltTensor]:
        """The outputs of no round."""
        made = []
        for k, row in enumerate(rows):
            axis, _ = self._way(row, k, len(rows))
            shape = (*row.shape[:axis], 0, *row.shape[axis:])
            made.append(move_nodes.empty(self.node, shape, row.dtype))
        return made

    def unrolled(self) -> Sequence[BuiltTensor]:
        """The outputs of rounds that are imported one after the other."""
        node, first, stacks = self.node, len(self.carried), list[Sequence[BuiltTensor]]()
        unrolling.check(node, self.count)
        carried = self.carried
        for i in range(self.count):
            rows = [
                _row(node, each, axis, self.count - 1 - i if back else i)
                for each, axis, back in zip(self.data, self.axes, self.backwards, strict=True)
            ]
            made = fields(bodies.inlined(node, "body", (*carried, *rows), str(i)))
            stacks.append(made[first:])
            carried = made[:first]
        joined = []
        for k, parts in enumerate(zip(*stacks, strict=True)):
            axis, back = self._way(parts[0], k, len(stacks[0]))
            joined.append(unrolling.stacked(node, parts[::-1] if back else parts, axis))
        return (*carried, *joined)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _row(node: OnnxNode, data: BuiltTensor, axis: int, at: int) -> BuiltTensor:
    """The elements at one index of an axis, without the axis."""
    shape = _without(data.shape, axis)
    return node.reshaped(move_nodes.cut(node, data, axis, at, 1), shape)


IMPORTERS = {"Scan": _scan}
