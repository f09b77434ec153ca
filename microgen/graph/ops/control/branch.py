"""branch: one of two graphs, which a condition chooses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgen.graph.ir import beside, interpreter
from microgen.graph.ir.graph import Arrays, Attrs, DType, Graph, Types
from microgen.graph.ops import control
from microgen.graph.ops.base import Bound, Inexact, OpDefinition, Operands, Shapes
from microgen.graph.ops.cost import ReferenceCost


@dataclass(frozen=True, slots=True, eq=False)
class BranchAttrs(Attrs):
    """Inputs: a bool of one element, then as many tensors as each of the graphs has inputs.
    Outputs: the outputs of ``then`` if the bool is true, otherwise of ``otherwise``. Both have the
    same types."""

    then: Graph
    otherwise: Graph


def infer(attrs: BranchAttrs, inputs: Types) -> Shapes:
    """The shapes of the outputs of ``then``."""
    wanted = len(attrs.then.inputs)
    if len(inputs) != wanted + 1 or len(attrs.otherwise.inputs) != wanted:
        raise ValueError(
            f"there are {len(inputs)} inputs; a bool and the inputs of each graph are expected"
        )
    return tuple(tensor.shape for tensor in attrs.then.type_of(attrs.then.outputs))


def check(attrs: BranchAttrs, inputs: Types, outputs: Types) -> str | None:
    """The condition is a bool, and both graphs have the types of the inputs and outputs."""
    first = inputs[0]
    if first.dtype is not DType.BOOL or first.size != 1:
        return f"its condition is {first}; one bool is expected"
    for graph in (attrs.then, attrs.otherwise):
        if len(graph.outputs) != len(outputs):
            return f"a graph has {len(graph.outputs)} outputs; {len(outputs)} are expected"
        if graph.variables:
            return f"a graph has the variables {list(graph.variables)}; none are expected"
        wrong = control.mismatch(
            graph, graph.inputs, inputs[1:], "the graph's"
        ) or control.mismatch(graph, graph.outputs, outputs, "the graph's")
        if wrong:
            return wrong
    return None


def reference(attrs: BranchAttrs, operands: Operands) -> Arrays:
    """The outputs of the graph that the condition chooses."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    condition, *rest = operands.inputs
    graph = attrs.then if bool(condition.ravel()[0]) else attrs.otherwise
    given = dict(zip(graph.inputs, rest, strict=True))
    values = interpreter.evaluate(graph, given, registry())
    return tuple(values[name] for name in graph.outputs)


def _bound(attrs: BranchAttrs, given: Inexact) -> Arrays:
    """The errors of the nodes inside. If the condition is not exact, any value is possible."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    if np.any(given.errors[0]):
        return tuple(np.full(array.shape, np.inf) for array in given.expected)
    condition, *rest = given.operands.inputs
    inside = attrs.then if bool(condition.ravel()[0]) else attrs.otherwise
    inputs = dict(zip(inside.inputs, rest, strict=True))
    errors = dict(zip(inside.inputs, given.errors[1:], strict=True))
    for one in beside.walk(inside, inputs, registry(), {}, off=dict(errors)):
        errors[one.tensor] = one.bound
    return tuple(
        np.broadcast_to(errors.get(name, 0.0), array.shape).astype(np.float64)
        for name, array in zip(inside.outputs, given.expected, strict=True)
    )


def _cost(attrs: BranchAttrs, _inputs: Types, _outputs: Types) -> ReferenceCost:
    one, other = control.cost(attrs.then), control.cost(attrs.otherwise)
    return ReferenceCost(max(one.nbytes, other.nbytes), max(one.steps, other.steps))


OP = OpDefinition(
    "branch",
    BranchAttrs,
    infer,
    check,
    reference,
    bound=Bound("those of the layers inside", _bound),
    cost=_cost,
)
