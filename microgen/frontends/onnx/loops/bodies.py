"""The graphs that are attributes of nodes: bodies of loops, and branches.

Either their nodes replace the node, or they become a graph of their own, which reads tensors of the
graph around it as its inputs. Constants around it are its constants.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from onnx import GraphProto

from microgen.frontends.onnx.nodes import OnnxNode, OnnxWalk
from microgen.frontends.onnx.scope import OnnxScope
from microgen.frontends.quantization import reinterpreted
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value
from microgen.graph.ir.graph import ArrayType, DType, Graph, live_nodes
from microgen.graph.qdq.recognise import recognised

_SMALL = (DType.INT8, DType.UINT8, DType.INT16)  # the stored integers of quantized networks


def graph_of(node: OnnxNode, name: str) -> GraphProto:
    """The graph that is an attribute. ModelError if there is none."""
    graph = node.graph_of(name)
    if graph is None:
        raise node.invalid(f"has no graph {name!r}, which the operator needs")
    return graph


def unchanged(graph: GraphProto, inputs: int, outputs: int) -> set[int]:
    """The values of a loop that no round changes, by their numbers: outputs of the body, from
    number ``outputs`` on, that are the inputs from number ``inputs`` on."""
    makers = {name: node for node in graph.node for name in node.output}
    found = set()
    pairs = zip(graph.input[inputs:], graph.output[outputs:], strict=False)
    for i, (own, result) in enumerate(pairs):
        name = result.name
        for _ in range(len(makers)):
            maker = makers.get(name)
            if maker is None or (maker.domain, maker.op_type) != ("", "Identity"):
                break
            name = next(iter(maker.input), "")
        if name == own.name:
            found.add(i)
    return found


def inlined(
    node: OnnxNode, name: str, operands: Sequence[BuiltTensor] = (), step: str = ""
) -> Value:
    """The outputs of a graph that is the value of an attribute. Its nodes replace the node.
    ``operands`` are the graph's inputs; it also reads tensors around the node. If the graph is
    imported several times, ``step`` is part of its tensors' names.
    """
    graph = graph_of(node, name)
    scope = _scope(node, f"{node.name}/{step}" if step else node.name, node.scope.values)
    _bind(node, graph, scope, operands)
    # A body of several iterations has no output that is this node's.
    if not step:
        names = [info.name for info in graph.output]
        scope.public = {n: o for n, o in zip(names, node.outputs, strict=False) if o}
    return node.walk.graph(graph, scope)


def _scope(
    node: OnnxNode, caller: str, around: MutableMapping[str, BuiltTensor | None]
) -> OnnxScope:
    scope = node.scope.inner(caller, node.scope.versions, node.scope.attributes)
    # A graph reads the tensors around it, but its own names end with it.
    scope.values = ChainMap({}, around)
    return scope


def _bind(
    node: OnnxNode, graph: GraphProto, scope: OnnxScope, operands: Sequence[BuiltTensor]
) -> None:
    if len(operands) != len(graph.input):
        raise node.invalid(f"gives {len(operands)} tensors to a graph of {len(graph.input)}")
    for info, tensor in zip(graph.input, operands, strict=True):
        scope.add(info.name, tensor)


@dataclass(slots=True)
class InnerGraph:
    """A graph of its own while it is built. ``layer`` adds nodes to it in the name of the node that
    contains it. ``captured`` are the tensors around the node that it reads, by their names there,
    each with the input that it is inside.
    """

    node: OnnxNode
    layer: OnnxNode = field(init=False)
    captured: dict[str, tuple[BuiltTensor, BuiltTensor]] = field(default_factory=dict)
    _builder: GraphBuilder = field(default_factory=GraphBuilder)
    _walk: OnnxWalk = field(init=False)

    def __post_init__(self) -> None:
        node = self.node
        # Constants are moved once for a graph, whose names are its own.
        self._walk = dataclasses.replace(node.walk, builder=self._builder, moved={})
        self.layer = OnnxNode(self._walk, node.scope, node.proto, ())

    def declared(self, name: str, kind: ArrayType) -> BuiltTensor:
        """A new input."""
        return self._builder.declare(f"{self.node.name}/{name}", kind)

    def taken(self, tensor: BuiltTensor) -> BuiltTensor:
        """A tensor around the node, as it is inside."""
        if tensor.name not in self.captured:
            plain = reinterpreted(self.node, tensor, None)
            inner = dataclasses.replace(plain, name=self._builder.fresh(plain.name))
            self._builder.types[inner.name] = inner.type
            self.captured[tensor.name] = (plain, inner)
        return self.captured[tensor.name][1]

    def imported(self, name: str, operands: Sequence[BuiltTensor]) -> tuple[BuiltTensor, ...]:
        """The outputs of the graph that is an attribute of the node, as plain numbers.
        ``operands`` are tensors inside."""
        graph = graph_of(self.node, name)
        scope = _scope(self.node, self.node.name, _Around(self))
        _bind(self.node, graph, scope, operands)
        made = self._walk.graph(graph, scope)
        if any(tensor.labels is not None for tensor in made):
            raise self.node.unsupported("computes texts", supported="numbers in loops and branches")
        return tuple(reinterpreted(self.layer, tensor, None) for tensor in made)

    def next_to(self, body: Graph) -> InnerGraph:
        """Another graph of the node, whose own tensors have other names than those of ``body``."""
        other = InnerGraph(self.node)
        other._builder.types.update(body.types)
        return other

    def layers(self) -> int:
        """The number of nodes so far."""
        return len(self._builder.nodes)

    def read(self, results: Sequence[BuiltTensor]) -> set[str]:
        """The names of the tensors that are read to compute some, and their own."""
        names = {tensor.name for tensor in results}
        nodes = live_nodes(self._builder.nodes, names)
        return names.union(*(node.inputs for node in nodes))

    def inputs(self) -> list[tuple[BuiltTensor, BuiltTensor]]:
        """The captured tensors that are computed, outside and inside."""
        return [pair for pair in self.captured.values() if not pair[0].is_constant]

    def graph(self, inputs: Sequence[BuiltTensor], outputs: Sequence[BuiltTensor]) -> Graph:
        """The finished graph, with the nodes that its outputs need."""
        nodes = list(self._builder.nodes)
        self._builder.drop_dead(outputs)
        made = self._builder.graph(self.node.name, inputs, outputs)
        if not any(tensor.dtype in _SMALL for tensor in (*inputs, *outputs)):
            made = recognised(made, self._builder.stored)
        self._builder.nodes = nodes  # other outputs may need them
        return made.replace(constants=dict(made.constants))


class _Around(MutableMapping[str, "BuiltTensor | None"]):
    """The names around a node, whose tensors are captured when a node inside reads them."""

    def __init__(self, inside: InnerGraph) -> None:
        self._inside, self._values = inside, inside.node.scope.values

    def __getitem__(self, name: str) -> BuiltTensor | None:
        tensor = self._values[name]
        return None if tensor is None else self._inside.taken(tensor)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, name: str, tensor: BuiltTensor | None) -> NoReturn:
        raise TypeError("names around a graph are not its own")

    def __delitem__(self, name: str) -> NoReturn:
        raise TypeError("names around a graph are not its own")
