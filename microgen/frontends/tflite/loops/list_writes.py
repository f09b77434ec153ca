"""Writes of one element of a list of tensors, which converters express by tensors of open shapes.

TensorFlow's TensorListSetItem becomes CONCATENATION(SLICE(list, 0, [i, -1, ...]), item,
SLICE(list, [i + 1, 0, ...], -1)). The sizes of both slices depend on ``i``, and either may be
empty, but the result always has the shape of the list: the item replaces element ``i`` of axis 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from microgen.frontends.tflite.records import (
    ABSENT,
    LIST_WRITE,
    OperatorRecord,
    SubgraphRecord,
    TensorRecord,
)
from microgen.graph.ir.graph import Array


def replaced(graph: SubgraphRecord) -> SubgraphRecord:
    """The subgraph with one operator, LIST_WRITE(list, item, index), in the place of each such
    concatenation, and without the operators that nothing needs any more."""
    made = {index: each for each in graph.operators for index in each.outputs}
    found = [_write(each, made, graph.tensors) or each for each in graph.operators]
    if found == list(graph.operators):
        return graph
    return dataclasses.replace(graph, operators=_live(found, graph.outputs))


def _write(
    operator: OperatorRecord,
    made: Mapping[int, OperatorRecord],
    tensors: Sequence[TensorRecord],
) -> OperatorRecord | None:
    if operator.name != "CONCATENATION" or len(operator.inputs) != 3:
        return None
    first, item, last = operator.inputs
    before, after = made.get(first), made.get(last)
    if before is None or after is None or {before.name, after.name} != {"SLICE"}:
        return None
    if before.inputs[0] != after.inputs[0] or len(tensors[item].shape) < 1:
        return None
    index = _leading(before.inputs[2], made, tensors, others=-1)
    following = _leading(after.inputs[1], made, tensors, others=0)
    starts, ends = _values(tensors, before.inputs[1]), _values(tensors, after.inputs[2])
    if index is None or following is None or starts is None or ends is None:
        return None
    is_next = _is_next(index, following, made, tensors)
    if np.any(starts) or np.any(ends != -1) or tensors[item].shape[0] != 1 or not is_next:
        return None
    return dataclasses.replace(
        operator, name=LIST_WRITE, inputs=(before.inputs[0], item, index), options_type=0
    )


def _leading(
    vector: int, made: Mapping[int, OperatorRecord], tensors: Sequence[TensorRecord], *, others: int
) -> int | None:
    """The scalar that is the first element of a computed vector, whose other elements are all
    ``others``."""
    joined = made.get(vector)
    if joined is None or joined.name != "CONCATENATION" or len(joined.inputs) != 2:
        return None
    head, tail = made.get(joined.inputs[0]), _values(tensors, joined.inputs[1])
    if head is None or head.name != "RESHAPE" or tail is None or np.any(tail != others):
        return None
    return head.inputs[0]


def _is_next(
    index: int, following: int, made: Mapping[int, OperatorRecord], tensors: Sequence[TensorRecord]
) -> bool:
    """Whether one scalar is the other plus 1."""
    added = made.get(following)
    if added is None or added.name != "ADD" or index not in added.inputs:
        return False
    other = added.inputs[1] if added.inputs[0] == index else added.inputs[0]
    one = _values(tensors, other)
    return one is not None and one.tolist() == [1]


def _values(tensors: Sequence[TensorRecord], index: int) -> Array | None:
    """The numbers of an int32 constant, flat."""
    if index == ABSENT or tensors[index].dtype != "int32" or not tensors[index].is_constant:
        return None
    data = tensors[index].data.tobytes()
    return np.frombuffer(data, "<i4") if len(data) % 4 == 0 else None


def _live(
    operators: Sequence[OperatorRecord], outputs: Sequence[int]
) -> tuple[OperatorRecord, ...]:
    """The operators on which the outputs depend, and those without outputs."""
    needed, kept = set(outputs), list[OperatorRecord]()
    for operator in reversed(operators):
        if not operator.outputs or not needed.isdisjoint(operator.outputs):
            needed.update(operator.inputs)
            kept.append(operator)
    return tuple(reversed(kept))
