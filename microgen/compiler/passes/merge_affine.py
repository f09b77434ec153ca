"""Makes one product and one sum of several products and sums with constants, one after the other,
such as a batch normalization and the scaling after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from microgen.compiler.passes.changes import Changes
from microgen.graph.arithmetic.terms import OPEN, Activation
from microgen.graph.ir.graph import Array, Attrs, DType, Graph, Node
from microgen.graph.ops import floats
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs

_MOST_CANCELLED = 2**12  # times: half of the digits of a float are left
_OPS = ("add", "divide", "multiply", "subtract")


def merge_affine(graph: Graph) -> Graph:
    """The graph in which no chain of float32 sums, differences, products and quotients with
    constants has more nodes than it needs. Floats may differ in their last bits."""
    chains, changes = _chains(graph), Changes(graph)
    nodes: list[Node] = []
    gone = {node.outputs[0] for chain in chains.values() for node in chain}
    for node in graph.nodes:
        # A chain's nodes are replaced at the place of its last one, where all operands are
        # computed.
        chain = chains.get(node.outputs[0])
        if chain is not None:
            nodes += _merged(chain, changes)
        elif node.outputs[0] not in gone:
            nodes.append(node)
    return changes.made(nodes=tuple(nodes))


def _chains(graph: Graph) -> dict[str, list[Node]]:
    """The result of each chain of two nodes or more -> its nodes. Nothing else reads the results
    between them, and only the last one clamps."""
    uses, found = graph.uses_of(), dict[str, list[Node]]()
    for node in graph.nodes:
        data = _data(node, graph)
        if data is None:
            continue
        before = found.get(data, [])
        if before and uses[data] == 1 and before[-1].place == node.place and _is_open(before[-1]):
            del found[data]
            found[node.outputs[0]] = [*before, node]
        else:
            found[node.outputs[0]] = [node]
    return {name: chain for name, chain in found.items() if len(chain) > 1}


def _data(node: Node, graph: Graph) -> str | None:
    """The operand of a sum or product with a constant that is not the constant. It has the
    result's shape."""
    if node.op not in _OPS or len(node.inputs) != 2:
        return None
    data = [name for name in node.inputs if name not in graph.constants]
    kind = graph.types[node.outputs[0]]
    if len(data) != 1 or kind.dtype is not DType.FLOAT32 or graph.types[data[0]] != kind:
        return None
    # constant / data is not affine.
    return None if node.op == "divide" and data[0] != node.inputs[0] else data[0]


def _is_open(node: Node) -> bool:
    return node.attrs.activation in OPEN  # type: ignore[attr-defined]


def _merged(chain: Sequence[Node], changes: Changes) -> list[Node]:
    """The nodes that replace a chain. The chain itself is returned if they are not fewer, if a
    number would not be finite, or if rounding decides the result."""
    factor, offset, terms = _affine(chain, changes.graph.constants)
    with np.errstate(over="ignore"):
        # Some networks round floats by adding a large number and subtracting it. A sum of terms
        # that are so much larger than the result must keep its order.
        most = _MOST_CANCELLED * np.maximum(np.abs(factor), np.abs(offset))
    if (terms > most).any():
        return list(chain)
    steps = [("multiply", factor)] * bool((factor != 1).any())
    steps += [("add", offset)] * bool((offset != 0).any() or not steps)
    is_finite = np.isfinite(factor).all() and np.isfinite(offset).all()
    if len(steps) >= len(chain) or not is_finite:
        return list(chain)
    return list(_nodes(steps, chain, changes))


def _nodes(
    steps: Sequence[tuple[str, Array]], chain: Sequence[Node], changes: Changes
) -> Iterator[Node]:
    """A node for each step. The last one has the result of the chain, and its activation."""
    last, graph = chain[-1], changes.graph
    (data,) = [name for name in chain[0].inputs if name not in graph.constants]
    for op, value in steps:
        is_last = op == steps[-1][0]
        output = last.outputs[0]
        if not is_last:
            output = changes.tensor(f"{output}#product", graph.types[output])
        what = "factor" if op == "multiply" else "offset"
        other = changes.constant(f"{last.outputs[0]}#{what}", value)
        activation = last.attrs.activation if is_last else Activation.UNLIMITED  # type: ignore[attr-defined]
        yield dataclasses.replace(
            last, op=op, attrs=_attrs(op, activation), inputs=(data, other), outputs=(output,)
        )
        data = output


def _attrs(op: str, activation: Activation) -> Attrs:
    return MultiplyAttrs(activation) if op == "multiply" else AddAttrs(activation)


def _affine(chain: Sequence[Node], constants: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Factor and offset of all nodes together, float32, computed in float64, and the sum of the
    magnitudes of the offset's terms."""
    factor, offset, terms = np.ones(()), np.zeros(()), np.zeros(())
    with np.errstate(all="ignore"):
        for node in chain:
            is_first = node.inputs[0] in constants
            value = constants[node.inputs[not is_first]].astype(np.float64)
            if node.op in ("divide", "multiply"):
                scale = 1 / value if node.op == "divide" else value
                factor, offset, terms = factor * scale, offset * scale, terms * np.abs(scale)
                continue
            terms = terms + np.abs(value)
            if node.op == "add" or not is_first:
                offset = offset + (-value if node.op == "subtract" else value)
            else:
                factor, offset = -factor, value - offset  # constant - (data * factor + offset)
        return floats.rounded(factor), floats.rounded(offset), terms
