"""Adds two constants to each other instead of adding one after the other to floats."""

from __future__ import annotations

import dataclasses

import numpy as np

from microgen.arithmetic.terms import OPEN, Activation
from microgen.ir.graph import Array, DType, Graph, Node, TensorType, frozen
from microgen.ops.add import AddAttrs

_SIGNS = {"add": 1, "subtract": -1}


def merge_sums(graph: Graph) -> Graph:
    """The graph in which a float32 sum with a constant, or a difference, is one sum together with
    another one that only it reads. Floats may differ in their last bits from those of two.

    A batch normalization subtracts a scaled mean and adds an offset: that is one sum.
    """
    uses, found = graph.uses_of(), dict[str, Node]()
    constants, types = dict(graph.constants), dict(graph.types)
    for node in graph.nodes:
        first = found.get(node.inputs[0]) if node.inputs else None
        offset = None if first is None else _offset(first, node, graph, constants)
        if first is not None and offset is not None and uses[first.outputs[0]] == 1:
            name = f"{node.outputs[0]}#offset"
            constants[name], types[name] = offset, TensorType(offset.shape, DType.FLOAT32)
            attrs = AddAttrs(node.attrs.activation)  # type: ignore[attr-defined]
            node = dataclasses.replace(node, op="add", attrs=attrs, inputs=(first.inputs[0], name))
            del found[first.outputs[0]]
        found[node.outputs[0]] = node
    return graph.replace(nodes=tuple(found.values()), constants=constants, types=types)


def _offset(first: Node, node: Node, graph: Graph, constants: dict[str, Array]) -> Array | None:
    """What both nodes add to their data; None if they do anything else."""
    kinds = {graph.types[name] for name in (first.inputs[0], first.outputs[0], node.outputs[0])}
    if kinds != {TensorType(graph.types[node.outputs[0]].shape, DType.FLOAT32)}:
        return None
    own, other = (_added(each, constants) for each in (first, node))
    is_open = getattr(first.attrs, "activation", Activation.RELU) in OPEN
    if own is None or other is None or not is_open or first.place != node.place:
        return None
    with np.errstate(all="ignore"):
        return frozen(other + own)


def _added(node: Node, constants: dict[str, Array]) -> Array | None:
    """The constant that a node adds to its first input."""
    if node.op not in _SIGNS or node.inputs[1] not in constants:
        return None
    return constants[node.inputs[1]] * np.float32(_SIGNS[node.op])
