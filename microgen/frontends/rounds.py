"""The number of rounds of a loop, if constants decide it, and the most rounds that users give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.base.errors import MicrogenError, few, short
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir import interpreter
from microgen.graph.ir.graph import Array, Graph, Node, live_nodes
from microgen.graph.ops import budget, registry
from microgen.graph.ops.base import StatusError
from microgen.graph.ops.cost import ReferenceCost
from microgen.graph.ops.elementwise.addition import AddAttrs

_MOST = 1 << 16  # rounds, each of which is computed


@dataclass(frozen=True, slots=True)
class MostRounds:
    """The most rounds of loops whose number of rounds depends on data: ``given``, by the layers'
    names, and the names of these loops that were ``found`` so far."""

    given: Mapping[str, int]
    found: list[str] = field(default_factory=list)

    def of(self, *names: str) -> int | None:
        """The most rounds of such a loop, which has these names; None if they are not given."""
        self.found.extend(names)
        return next((self.given[name] for name in names if name in self.given), None)

    def check(self, file: str) -> None:
        """Raise MicrogenError if ``--max-rounds`` names something else than a loop whose number of
        rounds depends on data."""
        for name in self.given:
            if name not in self.found:
                names = few([f'"{short(each)}"' for each in dict.fromkeys(self.found)])
                raise MicrogenError(
                    f'has no loop "{short(name)}" whose number of rounds depends on data',
                    where=f"{file}: --max-rounds",
                    hint=f"it has {names}" if self.found else "it has none: leave --max-rounds out",
                )


@dataclass(frozen=True, slots=True)
class LoopCounter:
    """An integer that begins at ``start`` and grows by ``step`` in each round."""

    start: int
    step: int
    dtype: str = "int32"

    def after(self, rounds: int, shape: tuple[int, ...]) -> Array:
        """The counter after so many rounds, as an array of one element. It wraps around."""
        value = np.array(self.start + self.step * rounds, object)
        bits = 8 * np.dtype(self.dtype).itemsize
        half = 1 << (bits - 1)
        return np.full(shape, (value + half) % (1 << bits) - half, self.dtype)


def counters(body: Graph, start: Sequence[BuiltTensor]) -> dict[int, LoopCounter]:
    """The counters among the values of a loop, by their positions."""
    made, found = body.producer_of(), dict[int, LoopCounter]()
    for i, (name, result) in enumerate(zip(body.inputs, body.outputs, strict=True)):
        node, value = made.get(result), start[i].value
        if node is None or value is None or value.size != 1 or not _adds(node, body):
            continue
        steps = [body.constants[each] for each in node.inputs if each in body.constants]
        is_own = name in node.inputs and len(steps) == 1 and steps[0].size == 1
        if is_own:
            found[i] = LoopCounter(int(value.item()), int(steps[0].item()), value.dtype.name)
    return found


def _adds(node: Node, body: Graph) -> bool:
    """Whether the node adds plain integers."""
    (kind,) = body.type_of(node.outputs[:1])
    is_plain = kind.quant is None and kind.dtype.numpy.kind == "i"
    attrs = node.attrs
    return is_plain and isinstance(attrs, AddAttrs) and attrs.activation is Activation.NONE


def number(
    condition: Graph,
    body: Graph,
    start: Sequence[BuiltTensor],
    kept: Sequence[int],
    where: str,
    most: int | None = None,
) -> int | None:
    """The number of rounds, up to ``most``; None unless the condition follows from constants and
    from integers that only depend on each other, or if it still holds after the most rounds that
    are tried.

    Raises UnsupportedError if computing it exceeds the model's budget.
    """
    used = _read(condition, condition.outputs)
    for _ in start:
        used |= _read(body, [body.outputs[i] for i in used if i not in kept])
    changed = sorted(used - {*kept})
    if any(start[i].value is None for i in used):
        return None
    test = _part(condition, used, condition.outputs)
    step = _part(body, used, [body.outputs[i] for i in changed])
    kinds = step.type_of(name for node in step.nodes for name in node.outputs)
    if test.variables or step.variables or any(t.dtype.numpy.kind == "f" for t in kinds):
        return None
    values = {i: tensor.value for i, tensor in enumerate(start) if tensor.value is not None}
    try:
        return _counted(test, step, {i: values[i] for i in sorted(used)}, changed, where, most)
    except StatusError:  # the firmware says so in that round
        return None


def _counted(
    test: Graph,
    step: Graph,
    values: dict[int, Array],
    changed: Sequence[int],
    where: str,
    most: int | None,
) -> int | None:
    """The rounds until the test is false, each of which computes the ``changed`` values."""
    cost = _cost(test) + _cost(step)
    for passed in range(_MOST + 1):
        budget.spend(ReferenceCost(0, cost), where)
        if passed == most or not _computed(test, values)[0].all():
            return passed
        values |= zip(changed, _computed(step, values), strict=True)
    return None


def _read(graph: Graph, outputs: Sequence[str]) -> set[int]:
    """The positions of the inputs on which the outputs depend."""
    nodes = live_nodes(graph.nodes, outputs)
    names = {*outputs, *(name for node in nodes for name in node.inputs)}
    return {i for i, name in enumerate(graph.inputs) if name in names}


def _part(graph: Graph, inputs: Iterable[int], outputs: Sequence[str]) -> Graph:
    """What computes the outputs from these inputs."""
    nodes = live_nodes(graph.nodes, outputs)
    names = {*outputs, *(name for node in nodes for name in node.inputs)}
    return graph.replace(
        inputs=tuple(graph.inputs[i] for i in sorted(inputs)),
        outputs=tuple(outputs),
        nodes=nodes,
        variables=tuple(name for name in graph.variables if name in names),
        updates={},
        initial={},
    )


def _cost(graph: Graph) -> int:
    """Steps of arithmetic of the references."""
    return 1 + sum(
        registry()[node.op]
        .cost(node.attrs, graph.type_of(node.inputs), graph.type_of(node.outputs))
        .steps
        for node in graph.nodes
    )


def _computed(graph: Graph, values: Mapping[int, Array]) -> list[Array]:
    """The outputs for the values of all inputs, in their order."""
    inputs = dict(zip(graph.inputs, values.values(), strict=True))
    found = interpreter.evaluate(graph, inputs, registry())
    return [found[name] for name in graph.outputs]
