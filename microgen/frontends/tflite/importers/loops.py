"""WHILE, and writes of lists inside of its body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.frontends import cells, recurrent_nodes, rounds
from microgen.frontends.cells import Body, RecurrentCell
from microgen.frontends.rounds import LoopCounter
from microgen.frontends.tflite.importers import control
from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.loops import subgraphs
from microgen.frontends.tflite.records import LIST_WRITE
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType, Graph
from microgen.graph.ops.base import Shape
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.slices import DynamicUpdateSliceAttrs, StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop whose number of rounds is known."""

    layer: FileLayer
    start: tuple[BuiltTensor, ...]
    body: Graph
    counters: dict[int, LoopCounter]  # by position
    kept: tuple[int, ...]  # positions of the values that no round changes
    rounds: int


def _while(layer: FileLayer) -> Value:
    start = layer.plain_operands()
    layer.expect_inputs(len(layer.plain_outputs()), outputs=max(1, len(start)))
    numbers = layer.subgraphs()
    if len(numbers) != 2:
        raise layer.invalid("names no subgraphs for its condition and its body")
    condition, body = (
        subgraphs.imported(layer.file, number, start, layer.where, keeps=True) for number in numbers
    )
    _check_types(layer, start, condition, body)
    kept = tuple(
        i for i, pair in enumerate(zip(body.inputs, body.outputs, strict=True)) if len({*pair}) == 1
    )
    counters = rounds.counters(body, start)
    number = rounds.number(condition, body, start, kept, layer.where)
    if number is None:
        return control.looped(layer, start, kept, None)
    if number == 0:
        return _passed_on(layer, start)
    loop = _Loop(layer, start, body, counters, kept, number)
    found = cells.recognised(body, (*counters, *kept))
    if found is None or not _fits(loop, found):
        return control.looped(layer, start, kept, number)
    return _recurrent(loop, found)


def _passed_on(layer: FileLayer, start: Sequence[BuiltTensor]) -> Value:
    """The results of no round."""
    pairs = zip(start, layer.plain_outputs(), strict=True)
    return tuple(
        layer.emit("reshape", ReshapeAttrs(tensor.shape), (tensor,), output)
        for tensor, output in pairs
    )


def _check_types(
    layer: FileLayer, start: Sequence[BuiltTensor], condition: Graph, body: Graph
) -> None:
    """Raise ModelError unless each value keeps its type, and the condition gives one bool."""
    given = [str(tensor.type) for tensor in start]
    if [str(kind) for kind in body.type_of(body.outputs)] != given:
        raise layer.invalid("has a body whose outputs have other types than its inputs")
    kinds = condition.type_of(condition.outputs)
    if len(kinds) != 1 or kinds[0].dtype is not DType.BOOL or kinds[0].size != 1:
        raise layer.invalid("has a condition that is not one bool")


def _fits(loop: _Loop, found: Body) -> bool:
    """Whether every round takes the next row of the data and writes the next element of a list."""
    cell, start = found.cell, loop.start
    if cell.data not in loop.kept or cell.counter not in loop.counters:
        return False
    counter, shape = loop.counters[cell.counter], start[cell.data].shape
    first, last = counter.start, counter.start + counter.step * (loop.rounds - 1)
    is_inside = 0 <= min(first, last) <= max(first, last) < shape[0]
    writes = [
        loop.counters.get(place) == LoopCounter(0, 1) and start[i].shape[0] == loop.rounds
        for i, place in found.lists.items()
    ]
    batches = start[cell.hidden].shape[0]
    is_row = len(shape) == 3 and shape[1] == batches
    return abs(counter.step) == 1 and is_inside and is_row and all(writes)


def _recurrent(loop: _Loop, found: Body) -> Value:
    """The results of a recurrent layer in the place of the loop."""
    layer, cell, start = loop.layer, found.cell, loop.start
    counter, keeps = loop.counters[cell.counter], bool(found.lists)
    data = _rows(layer, start[cell.data], counter, loop.rounds)
    states = _states_of(layer, cell, data, _states(cell, start), keeps=keeps)
    return _results(loop, found, states)


def _states_of(
    layer: FileLayer,
    cell: RecurrentCell,
    data: BuiltTensor,
    states: Sequence[BuiltTensor],
    *,
    keeps: bool,
) -> BuiltTensor:
    """The states of a recurrent layer."""
    found = recurrent_nodes.of(cell, *data.shape[:2], keeps=keeps)
    constants = [
        layer.constant(value, f"{layer.name}/{role}", quant)
        for role, (value, quant) in found.constants.items()
    ]
    inputs = [data, *constants, *states]
    return layer.emit(found.op, found.attrs, inputs, hint=f"{layer.name}/states", quant=None)


def _rows(layer: FileLayer, data: BuiltTensor, counter: LoopCounter, number: int) -> BuiltTensor:
    """The rows of the data in the order of the rounds."""
    shape = (number, *data.shape[1:])
    if shape == data.shape and counter.step == 1:
        return data
    begin, strides = (counter.start, 0, 0), (counter.step, 1, 1)
    attrs = StridedSliceAttrs(begin, strides, shape)
    return layer.emit("strided_slice", attrs, (data,), hint=f"{layer.name}/rows")


def _states(cell: RecurrentCell, start: Sequence[BuiltTensor]) -> list[BuiltTensor]:
    """The states before the first step, without zeros at the end."""
    states = [start[i] for i in (cell.hidden, cell.cell) if i is not None]
    while states and states[-1].value is not None and not states[-1].value.any():
        states.pop()
    return states


def _results(loop: _Loop, found: Body, states: BuiltTensor) -> Value:
    """The loop's outputs. ``states`` has the hidden states of all rounds if a list keeps them, the
    last one, and the last cell state."""
    layer, first = loop.layer, loop.rounds if found.lists else 0
    results = []
    for i, output in enumerate(layer.plain_outputs()):
        shape = loop.start[i].shape
        # LiteRT leaves anything in a tensor that nobody reads.
        if not layer.is_read(i):
            results.append(output)
            continue
        if i in loop.counters:
            last = loop.counters[i].after(loop.rounds, shape)
            value = layer.constant(last, f"{output.name}/last")
        elif i in loop.kept:
            value = loop.start[i]
        elif i in found.lists:
            value = _cut(layer, states, 0, loop.rounds)
        else:
            value = _cut(layer, states, first + (i == found.cell.cell), 1)
        results.append(layer.emit("reshape", ReshapeAttrs(shape), (value,), output))
    return tuple(results)


def _cut(layer: FileLayer, states: BuiltTensor, row: int, count: int) -> BuiltTensor:
    shape: Shape = (count, *states.shape[1:])
    if shape == states.shape:
        return states
    attrs = StridedSliceAttrs((row, 0, 0), (1, 1, 1), shape)
    return layer.emit("strided_slice", attrs, (states,), hint=f"{layer.name}/cut")


def _list_write(layer: FileLayer) -> Value:
    data, item, index = layer.data(0), layer.data(1), layer.plain(2)
    layer.expect(index, DType.INT32)
    one = layer.emit("reshape", ReshapeAttrs((1,)), (index,), hint=f"{layer.name}/index")
    zeros = layer.constant(np.zeros(len(data.shape) - 1, np.int32), f"{layer.name}/zeros")
    place = layer.emit("concatenate", ConcatenateAttrs(0), (one, zeros), hint=f"{layer.name}/place")
    attrs = DynamicUpdateSliceAttrs()
    return layer.emit("dynamic_update_slice", attrs, (data, item, place), layer.output())


IMPORTERS = {
    LIST_WRITE: Importer(_list_write, (3,)),
    "WHILE": Importer(_while),
}
