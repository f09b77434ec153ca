"""The number of rounds of a loop, if constants decide it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgen.graph.builder import BuiltTensor
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Graph, live_nodes
from microgen.graph.ops import budget, registry
from microgen.graph.ops.cost import ReferenceCost

_MOST = 1 << 16  # rounds: the condition is computed for each


@dataclass(frozen=True, slots=True)
class LoopCounter:
    """An integer that begins at ``start`` and grows by ``step`` in each round."""

    start: int
    step: int
    dtype: str = "int32"


def counters(body: Graph, start: Sequence[BuiltTensor]) -> dict[int, LoopCounter]:
    """The counters among the values of a loop, by their positions."""
    made, found = body.producer_of(), dict[int, LoopCounter]()
    for i, (name, result) in enumerate(zip(body.inputs, body.outputs, strict=True)):
        node, value = made.get(result), start[i].value
        if node is None or node.op != "add" or value is None or value.size != 1:
            continue
        steps = [body.constants[each] for each in node.inputs if each in body.constants]
        is_own = name in node.inputs and len(steps) == 1 and steps[0].size == 1
        if is_own and value.dtype.kind == "i":
            found[i] = LoopCounter(int(value.item()), int(steps[0].item()), value.dtype.name)
    return found


def number(
    condition: Graph,
    counted: Mapping[int, LoopCounter],
    start: Sequence[BuiltTensor],
    kept: Sequence[int],
    where: str,
) -> int | None:
    """The number of rounds; None if the condition depends on something else than counters and
    constants, or still holds after the most rounds that are tried."""
    nodes = live_nodes(condition.nodes, condition.outputs)
    needed = {*condition.outputs, *(name for node in nodes for name in node.inputs)}
    used = [i for i, name in enumerate(condition.inputs) if name in needed]
    if any(i not in counted and (i not in kept or start[i].value is None) for i in used):
        return None
    inner = condition.replace(inputs=tuple(condition.inputs[i] for i in used), nodes=nodes)
    values: dict[str, Any] = {condition.inputs[i]: start[i].value for i in used}
    (result,) = condition.outputs
    for passed in range(_MOST + 1):
        budget.spend(ReferenceCost(0, 1 + len(inner.nodes)), where)
        for i in used:
            if i in counted:
                now = counted[i].start + counted[i].step * passed
                values[condition.inputs[i]] = np.full(start[i].shape, now, counted[i].dtype)
        if not interpreter.evaluate(inner, values, registry())[result].all():
            return passed
    return None
