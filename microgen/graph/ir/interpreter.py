"""Runs a graph with the ops' numpy references, with which every firmware is compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Graph, Node
from microgen.graph.ops.base import OpDefinition, Operands, StatusError

State = dict[str, Array]  # the value of each variable of a graph


def initial_state(graph: Graph) -> State:
    """The values of variables before the first inference: the graph's initial values, or else the
    zero points, which mean 0.
    """
    kinds = zip(graph.variables, graph.type_of(graph.variables), strict=True)
    zeros = {name: np.full(kind.shape, kind.zero, kind.dtype.numpy) for name, kind in kinds}
    return {**zeros, **graph.initial}


def evaluate(
    graph: Graph,
    inputs: Mapping[str, Array],
    ops: Mapping[str, OpDefinition],
    state: State | None = None,
) -> dict[str, Array]:
    """Every tensor of the graph by name: inputs, constants and everything that nodes compute.

    ``inputs`` has one array per graph input, of the declared shape and dtype. ``state`` is read
    and updated; without it, this is the first inference. Raises ``ops.base.StatusError`` if the
    firmware's status would not be 0.
    """
    state = initial_state(graph) if state is None else state
    arrays = {name: inputs[name] for name in graph.inputs}
    values: dict[str, Array] = {**graph.constants, **state, **arrays}
    for node in graph.nodes:
        results = evaluate_node(node, graph, values, ops)
        values.update(zip(ops[node.op].results(node), results, strict=True))
    # All values are read before the first is replaced, because an update may name a variable.
    state.update([(name, values[graph.updates.get(name, name)]) for name in graph.variables])
    return values


def evaluate_node(
    node: Node, graph: Graph, values: Mapping[str, Array], ops: Mapping[str, OpDefinition]
) -> Arrays:
    """The outputs of one node, then the new values of its variables. Inputs are from ``values``."""
    try:
        return ops[node.op].reference(node.attrs, Operands.of(node, graph, values))
    except StatusError as error:
        error.node = error.node or node  # the innermost of nested graphs
        raise
