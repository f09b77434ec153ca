"""Partitioning of the kernel graph among external code generators.

Each node is represented by a call in a Relay module, which the passes for Relay partition. The
nodes of a region then become one node, ``external``, with a graph of their own.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from types import MappingProxyType

from microgen.compiler.partition.relay_module import Partitioning, partition_module
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal, of_node
from microgen.graph.ops import registry as ops
from microgen.graph.ops.external import ExternalAttrs
from microgen.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    FuncType,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from microgen.relay.module import IRModule
from microgen.relay.transform import OperatorCall, Support
from microgen.relay.visit import post_order

_LAYER = "layer"  # the attribute of a call that identifies its node, by its first output

Refuses = Callable[[Node], str | None]  # why a generator does not take a node
Typed = tuple[Function, Mapping[Expr, Type]]  # a function, and the types of its expressions


@dataclass(frozen=True, slots=True)
class Generator:
    """A code generator as partitioning sees it. ``function``, for one that compiles Relay, makes
    the function of a region, with the given parameters as inputs and the given symbol."""

    refuses: Refuses
    function: Callable[[Graph, Mapping[str, Var], str], Typed] | None = None


@dataclass(frozen=True, slots=True)
class PartitionedGraph:
    """The graph with external functions, and why generators refused other nodes."""

    graph: Graph
    refusals: tuple[Refusal[Node], ...]


def partition_graph(
    graph: Graph, generators: Mapping[str, Generator], how: Partitioning
) -> PartitionedGraph:
    """The graph with a node for each region that a generator takes. ``generators`` are by name, in
    the order of their priority."""
    nodes = {node.outputs[0]: node for node in graph.nodes}
    supports = [
        Support(by, dict.fromkeys(ops(), _predicate(generator.refuses, nodes, graph)))
        for by, generator in generators.items()
    ]
    # A call stands for a node here, so a pattern of Relay's operators cannot match.
    done = partition_module(shown(graph), supports, replace(how, composite=False))
    refusals = tuple(
        of_node(r.by, nodes[str(r.of.attrs[_LAYER])], r.why)
        for r in done.refusals
        if isinstance(r.of, Call) and _matters(r.of)
    )
    taken = {other.function for other in graph.nodes}
    for symbol, function in done.module.functions.items():
        if symbol != "main":
            generator = generators[str(function.attrs["Compiler"])]
            name = _free(symbol, taken)
            taken.add(name)
            graph = _contracted(graph, name, function, generator)
    return PartitionedGraph(graph, refusals)


def _matters(call: Call) -> bool:
    """Whether it matters that no generator takes a call."""
    assert isinstance(call.op, Op), "shown makes no others"
    # Views cost nothing, and external functions are already taken.
    return call.op.name != "external" and not ops()[call.op.name].is_view


def _predicate(
    refuses: Refuses, nodes: Mapping[str, Node], graph: Graph
) -> Callable[[OperatorCall], str | None]:
    variables, kept = set(graph.variables), set(graph.updates.values())

    def predicate(call: OperatorCall) -> str | None:
        node = nodes[str(call.attrs[_LAYER])]
        if node.op == "external":
            return "another generator has taken it"
        if node.target:
            return f"it is on the target {node.target}"
        if not variables.isdisjoint(node.inputs) or node.outputs[0] in kept:
            return "it keeps a state between inferences"
        return refuses(node)

    return predicate


def _free(symbol: str, taken: Collection[str]) -> str:
    """The symbol if it is free, otherwise with the first number after it that makes it free."""
    names = itertools.chain((symbol,), (f"{symbol}_{n}" for n in itertools.count(1)))
    return next(name for name in names if name not in taken)


def shown(graph: Graph) -> IRModule:
    """The graph as a module with a call for each node, of an operator with the name of its op."""
    types: dict[Expr, Type] = {}
    values: dict[str, Expr] = {}
    given = (*graph.inputs, *graph.variables)
    for tensor in given:
        values[tensor] = Var(tensor, _type(graph, tensor))
        types[values[tensor]] = _type(graph, tensor)
    for tensor, array in graph.constants.items():
        values[tensor] = Constant(array)
        types[values[tensor]] = _type(graph, tensor)
    for node in graph.nodes:
        attrs = MappingProxyType({_LAYER: node.outputs[0]})
        call = Call(Op(node.op), [values[name] for name in node.inputs], attrs)
        kinds = [_type(graph, name) for name in node.outputs]
        types[call] = kinds[0] if len(kinds) == 1 else TupleType(tuple(kinds))
        values[node.outputs[0]] = call
        if len(kinds) > 1:
            for i, name in enumerate(node.outputs):
                values[name] = TupleGetItem(call, i)
                types[values[name]] = kinds[i]
    body = values[graph.outputs[0]]
    if len(graph.results) > 1:
        body = Tuple([values[name] for name in graph.results])
        types[body] = TupleType(tuple(_type(graph, name) for name in graph.results))
    params = tuple(p for p in (values[tensor] for tensor in given) if isinstance(p, Var))
    main = Function(params, body, types[body])
    types[main] = FuncType(tuple(types[p] for p in params), types[body])
    return IRModule(MappingProxyType({"main": main}), types)


def _type(graph: Graph, tensor: str) -> TensorType:
    found = graph.types[tensor]
    return TensorType(found.shape, found.dtype.value)


def _contracted(graph: Graph, symbol: str, function: Function, generator: Generator) -> Graph:
    """The graph with the nodes of a function replaced by one node."""
    calls = [e for e in post_order(function) if isinstance(e, Call) and _LAYER in e.attrs]
    layers = {str(call.attrs[_LAYER]): call for call in calls}
    inside = tuple(node for node in graph.nodes if node.outputs[0] in layers)
    outside = tuple(node for node in graph.nodes if node.outputs[0] not in layers)
    params = _params(function, inside, layers)
    cut = _cut(graph, inside, outside, tuple(params))
    codegen = str(function.attrs["Compiler"])
    relay, types = generator.function(cut, params, symbol) if generator.function else (None, None)
    attrs = ExternalAttrs(symbol, codegen, cut, relay, types)
    origin = inside[-1].origin
    node = Node("external", cut.inputs, cut.outputs, attrs, origin, codegen, symbol)
    return graph.replace(nodes=_ordered((*outside, node), graph))


def _params(
    function: Function, inside: Sequence[Node], layers: Mapping[str, Call]
) -> dict[str, Var]:
    """The function's parameters, in order, by the tensors that they represent."""
    tensors = {
        value: name
        for node in inside
        for value, name in zip(layers[node.outputs[0]].args, node.inputs, strict=True)
    }
    return {tensors[param]: param for param in function.params}


def _cut(
    graph: Graph, inside: Sequence[Node], outside: Sequence[Node], inputs: tuple[str, ...]
) -> Graph:
    """The nodes ``inside`` as a graph."""
    computed = {name: None for node in inside for name in node.outputs}
    read = dict.fromkeys(name for node in inside for name in node.inputs)
    wanted = {*graph.results, *(name for node in outside for name in node.inputs)}
    names = {*computed, *read}
    return Graph(
        name=graph.name,
        inputs=inputs,
        # A function without a reader still needs a result.
        outputs=tuple(n for n in computed if n in wanted) or inside[-1].outputs,
        nodes=tuple(inside),
        types={name: kind for name, kind in graph.types.items() if name in names},
        constants={name: graph.constants[name] for name in read if name in graph.constants},
    )


def _ordered(nodes: Sequence[Node], graph: Graph) -> tuple[Node, ...]:
    """The nodes, each after the nodes that it reads; apart from that in the graph's order."""
    # The new node comes last, although others may read its results.
    place = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs}
    first = [min(place[name] for name in node.outputs) for node in nodes]
    maker = {name: i for i, node in enumerate(nodes) for name in node.outputs}
    needs = ({maker[n] for n in node.inputs if n in maker} for node in nodes)
    # Regions are convex, so no node depends on itself.
    sorter = TopologicalSorter(dict(enumerate(needs)))
    sorter.prepare()
    found: list[Node] = []
    ready: list[tuple[int, int]] = []
    while sorter.is_active():
        for i in sorter.get_ready():
            heapq.heappush(ready, (first[i], i))
        # The next node is the ready one with the earliest place in the graph.
        _, i = heapq.heappop(ready)
        found.append(nodes[i])
        sorter.done(i)
    return tuple(found)
