"""The states of ONNX Runtime's recurrent layers, as the graph's nodes return them.

A node of the graph returns all states of one direction, and the model's outputs are parts of them.
With the states of each step, errors do not add up over steps: see ``ops.recurrent.recurrent.run``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import ModelProto, NodeProto

from microgen.graph.ir.graph import Array, Graph
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs

_OUTPUTS = {"GRU": 2, "LSTM": 3, "RNN": 2}  # states of each step, the last ones, cell states


def named(model: ModelProto) -> dict[str, NodeProto]:
    """The recurrent layers by the name of their first named output. The other outputs get names,
    too.
    """
    layers = {}
    for node in model.graph.node:
        if node.domain or node.op_type not in _OUTPUTS:
            continue
        layer = next(filter(None, node.output), node.name)
        node.output.extend([""] * (_OUTPUTS[node.op_type] - len(node.output)))
        for k, name in enumerate(node.output):
            node.output[k] = name or f"{layer}#state{k}"
        layers[layer] = node
    return layers


def of(
    layers: Mapping[str, NodeProto], graph: Graph, known: Mapping[str, Array]
) -> Iterator[tuple[str, Array]]:
    """The graph's tensors of states and their values, from the values of the layers' outputs."""
    directions: dict[str, int] = {}
    for node in graph.nodes:
        layer = node.origin.layer
        if not isinstance(node.attrs, RecurrentAttrs) or layer not in layers:
            continue
        # Nodes of one layer follow one another in the order of its directions.
        direction = directions[layer] = directions.get(layer, -1) + 1
        # The outputs are the states of all steps, then the last states, then an LSTM's cell states.
        rows, *last = (_in_steps(layers[layer], known[name]) for name in layers[layer].output)
        kept = [rows[:, direction]] if node.attrs.keeps else []
        yield node.outputs[0], np.concatenate([*kept, *(each[direction][None] for each in last)])


def _in_steps(node: NodeProto, states: Array) -> Array:
    """States [steps, directions, batches, cells] or [directions, batches, cells]; with layout 1 the
    batches are first."""
    if not any(each.name == "layout" and each.i for each in node.attribute):
        return states
    return states.transpose(1, 2, 0, 3) if states.ndim == 4 else states.transpose(1, 0, 2)
