"""Imports nodes in their order. The nodes of functions and branches replace the node that calls
them.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from onnx import GraphProto, NodeProto

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends import importers as tables
from microgen.frontends.numerics import Numerics
from microgen.frontends.onnx import functions, ordering, schemas, types
from microgen.frontends.onnx.declared import DeclaredTypes
from microgen.frontends.onnx.functions import FunctionBody, Functions
from microgen.frontends.onnx.importers import registry
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.scope import OnnxScope
from microgen.frontends.operators import Moved
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value

_MOST_NODES = 2**14  # in functions and branches: more than networks have, and seconds of work
_RUNTIMES = "com.microsoft"  # its domains begin like this
_MOST_DEPTH = 16  # of functions in functions


@dataclass(slots=True)
class OnnxWalk:
    """The import of one model. ``fed``: the names of its inputs."""

    file: str
    builder: GraphBuilder
    numerics: Numerics
    functions: Functions
    declared: DeclaredTypes
    fed: frozenset[str]
    moved: Moved = field(default_factory=dict)
    _inner: int = 0

    def graph(self, graph: GraphProto, scope: OnnxScope) -> tuple[BuiltTensor, ...]:
        """The outputs of a graph whose inputs the scope has."""
        for proto in graph.initializer:
            type_, value = types.constant(
                proto, f'the initialiser "{short(proto.name)}"', self.file
            )
            made = self.builder.constant(scope.prefix + proto.name, value, type_)
            is_int4 = types.is_int4(proto.data_type)
            scope.add(proto.name, dataclasses.replace(made, is_int4=is_int4))
        return self.outputs(graph.node, scope, [info.name for info in graph.output])

    def outputs(
        self, protos: Sequence[NodeProto], scope: OnnxScope, wanted: Sequence[str]
    ) -> tuple[BuiltTensor, ...]:
        """The ``wanted`` tensors, after the nodes that they depend on."""
        for proto in _needed(protos, wanted):
            self._import(proto, scope)
        return tuple(scope.tensor(name) for name in wanted)

    def _import(self, proto: NodeProto, scope: OnnxScope) -> None:
        place = _Place(self, scope, scope.renamed(proto))
        node = place.node([scope.operand(name) for name in proto.input])
        found = node.finished(place.value(node))
        for name, tensor in zip(proto.output, found, strict=False):
            if name:
                scope.add(name, tensor)
                if not scope.depth:
                    self.declared.check(name, tensor)
        for name in filter(None, proto.output[len(found) :]):
            what = f'has the output "{short(name)}"'
            scope.lacking[name] = node.unsupported(what, supported=f"the first {len(found)}")

    def count(self, node: OnnxNode, depth: int) -> None:
        """Count a node of a function or a branch. UnsupportedError if there are too many, or
        functions in too many functions."""
        self._inner += 1
        if self._inner > _MOST_NODES or depth > _MOST_DEPTH:
            raise UnsupportedError(
                f"the model's functions have more than {_MOST_NODES} nodes, or call one another "
                f"more than {_MOST_DEPTH} deep",
                where=node.where,
                hint="onnx.inliner puts the nodes of functions in place of their calls",
            )


@dataclass(frozen=True, slots=True)
class _Place:
    """A node and its surroundings."""

    walk: OnnxWalk
    scope: OnnxScope
    proto: NodeProto

    def node(self, operands: Sequence[BuiltTensor | None]) -> OnnxNode:
        """The node as importers see it."""
        walk, domain = self.walk, schemas.domain(self.proto.domain)
        if domain not in self.scope.versions:
            raise ModelError(
                f'uses the operator "{short(self.proto.op_type)}" of the domain '
                f'"{short(domain or "ai.onnx")}", and imports no version of it',
                where=walk.file,
                hint="onnx.helper.make_opsetid makes an entry of opset_import",
            )
        return OnnxNode(
            self.proto,
            operands,
            self.scope.versions[domain],
            file=walk.file,
            graph=walk.builder,
            moved=walk.moved,
            numerics=walk.numerics,
            fed=walk.fed,
            place=self,
        )

    def value(self, node: OnnxNode) -> Value:
        """The node's outputs, from the model's own function, from the importer, or from the
        function that defines the operator.
        """
        if self.scope.depth:
            self.walk.count(node, self.scope.depth)
        local = self.walk.functions.local(self.proto)
        if local is not None:
            return self.called(node, local)
        schema = schemas.find(self.proto, node.version)
        for sentence in schemas.violations(self.proto, schema, node.operands) if schema else ():
            raise node.invalid(sentence)
        importer = registry().get(node.op)
        return importer(node) if importer else self.definition(node)

    def declared(self, name: str) -> tuple[int, ...] | None:
        """The shape that the model declares for a tensor; None if it declares none, or sizes that
        are symbolic. Functions declare none."""
        return None if self.scope.depth else self.walk.declared.shape(name)

    def definition(self, node: OnnxNode) -> Value:
        """The node's outputs, computed by the function that defines its operator."""
        body = functions.of_schema(self.proto, node.version, node.operands)
        if body:
            return self.called(node, body)
        if self.proto.domain.startswith(_RUNTIMES):
            raise node.unsupported(
                f"operator {node.op} is of ONNX Runtime only, whose optimizations make such",
                hint="give the model as it was before ONNX Runtime optimized it: export it anew, "
                "or save it with GraphOptimizationLevel.ORT_DISABLE_ALL",
            )
        return tables.of(node, {})

    def called(self, node: OnnxNode, body: FunctionBody) -> Value:
        """The node's outputs, computed by the nodes of a function."""
        if len(node.operands) > len(body.inputs):
            raise node.invalid(
                f"has {len(node.operands)} inputs, but its function has {len(body.inputs)}"
            )
        scope = self.scope.inner(node.name, body.versions, body.attributes)
        pairs = list(zip(body.outputs, node.outputs, strict=False))
        wanted = [name for name, output in pairs if output]
        scope.public = {name: output for name, output in pairs if output}
        for i, name in enumerate(body.inputs):
            scope.add(name, node.optional(i))
        made = dict(zip(wanted, self.walk.outputs(body.nodes, scope, wanted), strict=True))
        # Any tensor takes the place of an output that is left out.
        return tuple(made.get(name, made[wanted[0]]) for name, _ in pairs)

    def branch(
        self,
        node: OnnxNode,
        graph: GraphProto,
        operands: Sequence[BuiltTensor] = (),
        step: str = "",
    ) -> Value:
        """The outputs of a graph that reads the operands, and tensors around the node. ``step`` is
        part of the names of its tensors, if it is imported several times."""
        caller = f"{node.name}/{step}" if step else node.name
        scope = self.scope.inner(caller, self.scope.versions, self.scope.attributes)
        scope.values = ChainMap({}, self.scope.values)
        if len(operands) != len(graph.input):
            raise node.invalid(f"gives {len(operands)} tensors to a graph of {len(graph.input)}")
        for info, tensor in zip(graph.input, operands, strict=True):
            scope.add(info.name, tensor)
        if not step:
            names = [info.name for info in graph.output]
            scope.public = {n: o for n, o in zip(names, node.outputs, strict=False) if o}
        return self.walk.graph(graph, scope)


def _with_outputs(proto: NodeProto, read: Container[str]) -> NodeProto:
    """The node without the names of outputs that nothing reads."""
    if all(name in read for name in filter(None, proto.output)):
        return proto
    copied = NodeProto()
    copied.CopyFrom(proto)
    copied.output[:] = [name if name in read else "" for name in proto.output]
    return copied


def _needed(protos: Sequence[NodeProto], wanted: Sequence[str]) -> list[NodeProto]:
    """The nodes that the wanted tensors depend on, in their order."""
    read, found = {*filter(None, wanted)}, []
    # Backwards, because the readers of a node come after it.
    for proto in reversed(protos):
        if not read.isdisjoint(proto.output):
            found.append(_with_outputs(proto, read))
            read.update(filter(None, ordering.reads(proto)))
    return found[::-1]
