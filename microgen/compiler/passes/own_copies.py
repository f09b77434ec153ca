"""Adds copies for outputs and for variables' next values that have no bytes of their own."""

from __future__ import annotations

from microgen.compiler.passes.changes import Changes
from microgen.compiler.passes.views import roots
from microgen.graph.ir.graph import Graph, Node, Origin
from microgen.graph.ops.moves.views import CopyAttrs


def own_outputs(graph: Graph) -> Graph:
    """The graph in which every output's bytes are computed by a node for that output alone.

    An output that is an input, a constant, a variable, or already another output, is copied. All
    others are written in place by the nodes that compute them.
    """
    bytes_of = roots(graph)
    taken = {*graph.inputs, *graph.constants, *graph.variables}
    copies, outputs, changes = list[Node](), list[str](), Changes(graph)
    for name in graph.outputs:
        # Two outputs must not share bytes, and inputs, constants and variables have owners.
        if bytes_of[name] in taken:
            copies.append(_copy(changes, name, f"{name}#copy{len(copies)}", name))
            name = copies[-1].outputs[0]
        else:
            taken.add(bytes_of[name])
        outputs.append(name)
    return changes.made(nodes=(*graph.nodes, *copies), outputs=tuple(outputs))


def own_updates(graph: Graph) -> Graph:
    """The graph in which a node of its own copies the next value of each variable.

    These copies come last, so every other node that reads a variable precedes the one that replaces
    its value. The value of another variable is copied twice, so that all such values are read
    before any is replaced. A variable whose next value has its own bytes gets no copy. Lowering
    leaves out a copy if the value can be computed in the variable's place.
    """
    bytes_of, variables, changes = roots(graph), set(graph.variables), Changes(graph)
    others, last = list[Node](), list[Node]()
    updates: dict[str, str] = {}
    for variable, source in graph.updates.items():
        if bytes_of[source] == variable:
            updates[variable] = variable
            continue
        # Two copies, because every old value must be read before any is replaced: variables may
        # swap.
        if bytes_of[source] in variables:
            others.append(_copy(changes, source, f"{variable}#then", variable))
            source = others[-1].outputs[0]
        last.append(_copy(changes, source, f"{variable}#next", variable))
        updates[variable] = last[-1].outputs[0]
    return changes.made(nodes=(*graph.nodes, *others, *last), updates=updates)


def _copy(changes: Changes, source: str, wanted: str, layer: str) -> Node:
    name = changes.tensor(wanted, changes.types[source])
    return Node("copy", (source,), (name,), CopyAttrs(), Origin(changes.graph.name, layer))
