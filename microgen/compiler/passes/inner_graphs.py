"""Runs passes on the graphs inside loops and branches, and moves constants into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from microgen.base.errors import InternalError
from microgen.compiler.passes.changes import Changes
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.control.branch import BranchAttrs
from microgen.graph.ops.control.loop import LoopAttrs
from microgen.graph.ops.moves.views import CopyAttrs

Run = Callable[[Graph], Graph]


def inner_graphs(graph: Graph, run: Run) -> Graph:
    """The graph whose loops and branches have constants of their own instead of captured ones, and
    no captured tensors that nothing reads. ``run`` optimises the graphs inside. A branch whose
    condition is constant is replaced by one of its graphs."""
    nodes: list[Node] = []
    changes = Changes(graph)
    for node in graph.nodes:
        if isinstance(node.attrs, LoopAttrs):
            nodes.append(_loop(node, node.attrs, graph, run))
        elif isinstance(node.attrs, BranchAttrs):
            nodes += _branch(node, node.attrs, changes, run)
        else:
            nodes.append(node)
    return changes.made(nodes=tuple(nodes))


def _loop(node: Node, attrs: LoopAttrs, graph: Graph, run: Run) -> Node:
    count = len(attrs.body.variables)
    captured = node.inputs[count:]
    body = _optimised(_knowing(attrs.body, attrs.body.inputs, captured, graph), run)
    condition = attrs.condition
    if condition is not None:
        given = dict(zip(attrs.body.inputs, captured, strict=True))
        read = [name for name in condition.inputs if name in given]
        condition = _knowing(condition, read, [given[name] for name in read], graph)
        condition = _optimised(condition, run)
    used = _read(body) | (set() if condition is None else _read(condition))
    known = zip(attrs.body.inputs, captured, strict=True)
    left = [(inner, outer) for inner, outer in known if inner in used and inner in body.inputs]
    # What only the condition reads is in the body's constants if it is constant.
    body = body.replace(inputs=tuple(inner for inner, _ in left))
    outer = tuple(name for _, name in left)
    made = LoopAttrs(body, attrs.rounds, condition)
    return replace(node, inputs=(*node.inputs[:count], *outer), attrs=made)


def _branch(node: Node, attrs: BranchAttrs, changes: Changes, run: Run) -> Sequence[Node]:
    graph = changes.graph
    condition, *captured = node.inputs
    if condition in graph.constants:
        chosen = attrs.then if bool(graph.constants[condition].ravel()[0]) else attrs.otherwise
        return _inlined(node, chosen, captured, changes)
    graphs = [
        _optimised(_knowing(own, own.inputs, captured, graph), run)
        for own in (attrs.then, attrs.otherwise)
    ]
    # Both graphs keep the same inputs, because the node passes them to both. No input is left that
    # neither of them reads.
    before = [own.inputs for own in (attrs.then, attrs.otherwise)]
    read = [_read(own) for own in graphs]
    left = [
        i
        for i, name in enumerate(captured)
        if name not in graph.constants
        and any(names[i] in own for names, own in zip(before, read, strict=True))
    ]
    then, otherwise = (
        own.replace(inputs=tuple(before.inputs[i] for i in left))
        for own, before in zip(graphs, (attrs.then, attrs.otherwise), strict=True)
    )
    inputs = (condition, *(captured[i] for i in left))
    return [replace(node, inputs=inputs, attrs=BranchAttrs(then, otherwise))]


def _knowing(inside: Graph, names: Sequence[str], outer: Sequence[str], graph: Graph) -> Graph:
    """The graph inside with constants instead of those of its inputs ``names`` that are constants
    outside, where they are called ``outer``."""
    pairs = zip(names, outer, strict=True)
    known = {name: graph.constants[own] for name, own in pairs if own in graph.constants}
    if not known:
        return inside
    int4 = {n for n, own in zip(names, outer, strict=True) if n in known and own in graph.int4}
    return inside.replace(
        inputs=tuple(name for name in inside.inputs if name not in known),
        constants={**inside.constants, **known},
        int4=inside.int4 | int4,
    )


def _optimised(inside: Graph, run: Run) -> Graph:
    done = run(inside)
    for own in ("inputs", "variables"):
        before, after = getattr(inside, own), getattr(done, own)
        if before != after or inside.type_of(before) != done.type_of(after):
            found = f"the passes have changed the {own} {list(before)} to {list(after)}"
            raise InternalError(found, where=inside.name)
    return done


def _read(graph: Graph) -> set[str]:
    return {*graph.results, *(name for node in graph.nodes for name in node.inputs)}


def _inlined(
    node: Node, chosen: Graph, captured: Sequence[str], changes: Changes
) -> Sequence[Node]:
    """The nodes of a graph in place of the node that contains it, and copies for its outputs."""
    names: dict[str, str] = dict(zip(chosen.inputs, captured, strict=True))
    for name, array in chosen.constants.items():
        names[name] = changes.constant(name, array, chosen.types[name])
    nodes = []
    made = {name for own in chosen.nodes for name in own.outputs}
    # An output that a node computes gets the name outside, which is a name of the model.
    for inner, name in zip(chosen.outputs, node.outputs, strict=True):
        if inner in made:
            names.setdefault(inner, name)
    for own in chosen.nodes:
        for name in own.outputs:
            names.setdefault(name, "")
            names[name] = names[name] or changes.tensor(name, chosen.types[name])
        nodes.append(_renamed(own, names))
    outputs = [(names[i], name) for i, name in zip(chosen.outputs, node.outputs, strict=True)]
    return [*nodes, *(_copy(node, inner, name) for inner, name in outputs if inner != name)]


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    inputs, outputs = (tuple(names[name] for name in own) for own in (node.inputs, node.outputs))
    return replace(node, inputs=inputs, outputs=outputs)


def _copy(node: Node, source: str, result: str) -> Node:
    return Node("copy", (source,), (result,), CopyAttrs(), node.origin, node.target)
