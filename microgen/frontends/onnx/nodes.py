"""Imports nodes in their order, and is the interface of ONNX's importers: the operands and
attributes of a node, and the methods that add its nodes to the graph.

The nodes of functions replace the node that calls them; ``bodies`` has the graphs of loops and
branches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.frontends import importers as tables
from microgen.frontends.onnx import functions, ordering, provenance, schemas, types
from microgen.frontends.onnx.functions import FunctionBody, Functions
from microgen.frontends.onnx.scope import DeclaredTypes, OnnxScope
from microgen.frontends.operators import Moved, Operator
from microgen.frontends.quantization import reinterpreted
from microgen.frontends.rounds import MostRounds
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, fields
from microgen.graph.ir.graph import Array, Attrs, DType, Origin

_NOTHING: Any = object()
_MOST_NODES = 2**14  # in functions and branches: more than networks have, and seconds of work
_MOST_DEPTH = 16  # of functions in functions
_CLASSICAL = "ai.onnx.ml"  # the domain of operators for classical machine learning
_OF_EACH = frozenset(  # ops whose every result is made of one element of each input
    {
        *("abs", "add", "broadcast_to", "cast", "clip", "divide", "exp", "log", "maximum"),
        *("minimum", "multiply", "negative", "real_function", "reshape", "sigmoid", "sqrt"),
        *("strided_slice", "subtract", "tanh", "transpose", "where"),
    }
)


# Operators that move texts: they move the indices.
_OF_TEXTS = frozenset(
    {"Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)


def operator_name(proto: NodeProto) -> str:
    """The key of a node's importer: the operator's name, after its domain if that is not ONNX's."""
    domain = schemas.domain(proto.domain)
    return f"{domain}.{proto.op_type}" if domain else str(proto.op_type)


# How to export a network for inference.
EVAL = "call network.eval() before torch.onnx.export, or export with training=TrainingMode.EVAL"


@dataclass(slots=True)
class OnnxWalk:
    """The import of one model. ``inputs`` has the names of the model's inputs, ``importers`` the
    function that imports an operator, by the operator's name."""

    file: str
    builder: GraphBuilder
    functions: Functions
    declared: DeclaredTypes
    inputs: frozenset[str]
    importers: Mapping[str, Callable[[OnnxNode], Value]]
    moved: Moved = field(default_factory=dict)
    most: MostRounds = field(default_factory=lambda: MostRounds({}))
    # One element: the number of nodes in functions and branches so far, also of inner graphs.
    counted: list[int] = field(default_factory=lambda: [0])
    # One element: the number of loops that could be imported in no way.
    failed: list[int] = field(default_factory=lambda: [0])
    # Tensors of the main graph whose declared shapes may be wrong.
    loose: set[str] = field(default_factory=set)

    def graph(self, graph: GraphProto, scope: OnnxScope) -> tuple[BuiltTensor, ...]:
        """The outputs of a graph whose inputs the scope has."""
        for proto in graph.initializer:
            called = f'the initialiser "{short(proto.name)}"'
            type_, value, labels = types.labelled(proto, called, self.file)
            made = self.builder.constant(scope.prefix + proto.name, value, type_)
            is_int4 = types.is_int4(proto.data_type)
            scope.add(proto.name, dataclasses.replace(made, is_int4=is_int4, labels=labels))
        return self.outputs(graph.node, scope, [info.name for info in graph.output])

    def outputs(
        self, protos: Sequence[NodeProto], scope: OnnxScope, wanted: Sequence[str]
    ) -> tuple[BuiltTensor, ...]:
        """The ``wanted`` tensors, after the nodes that they depend on."""
        for proto in ordering.needed(protos, wanted):
            self._import(proto, scope)
        return tuple(scope.tensor(name) for name in wanted)

    def _import(self, proto: NodeProto, scope: OnnxScope) -> None:
        operands = [scope.operand(name) for name in proto.input]
        node = OnnxNode(self, scope, scope.renamed(proto), operands)
        tensors = node.finished(node.value())
        for name, tensor in zip(proto.output, tensors, strict=False):
            if tensor.labels is not None:
                self.builder.labels[tensor.name] = tensor.labels
            if name:
                scope.add(name, tensor)
                # ``DeclaredTypes`` has the names of the main graph only.
                if not scope.depth:
                    self.declared.check(name, tensor, is_loose=self._is_loose(proto))
        # An output that an importer lacks is an error only if something reads it.
        for name in filter(None, proto.output[len(tensors) :]):
            what = f'has the output "{short(name)}"'
            scope.lacking[name] = node.unsupported(what, supported=f"the first {len(tensors)}")

    def _is_loose(self, proto: NodeProto) -> bool:
        """Whether ONNX infers no shape of a node's outputs, so that a wrong one may be declared."""
        # skl2onnx declares one target for regressors of several, and a column for each class, also
        # if an SVM has one for each pair of classes. A Cast follows.
        if proto.domain != _CLASSICAL and not (self.loose & {*proto.input}):
            return False
        self.loose.update(proto.output)
        return True

    def count(self, node: OnnxNode, depth: int) -> None:
        """Count a node of a function or a branch. UnsupportedError if there are too many, or
        functions in too many functions."""
        self.counted[0] += 1
        if self.counted[0] > _MOST_NODES or depth > _MOST_DEPTH:
            raise UnsupportedError(
                f"the model's functions have more than {_MOST_NODES} nodes, or call one another "
                f"more than {_MOST_DEPTH} deep",
                where=node.where,
                hint="onnx.inliner puts the nodes of functions in place of their calls",
            )


class OnnxNode(Operator):
    """One node while it is imported.

    ``version`` is the version of the node's domain that the model imports: 13 for opset 13.
    ``outputs`` has the names of its outputs, "" for outputs that nothing reads. ``walk`` and
    ``scope`` are the ones in which it is imported.
    """

    def __init__(
        self,
        walk: OnnxWalk,
        scope: OnnxScope,
        proto: NodeProto,
        operands: Sequence[BuiltTensor | None],
    ) -> None:
        domain, op = schemas.domain(proto.domain), operator_name(proto)
        if domain not in scope.versions:
            raise ModelError(
                f'uses the operator "{short(proto.op_type)}" of the domain '
                f'"{short(domain or "ai.onnx")}", and imports no version of it',
                where=walk.file,
                hint="onnx.helper.make_opsetid makes an entry of opset_import",
            )
        self.version = scope.versions[domain]
        self.outputs = tuple(proto.output)
        name = next(filter(None, self.outputs), proto.name)
        where = f'{walk.file}: layer "{short(name)}" ({op}, opset {self.version})'
        origin = Origin(walk.file, name)
        super().__init__(op, name, origin, graph=walk.builder, moved=walk.moved, where=where)
        self.walk, self.scope, self.proto = walk, scope, proto
        self._operands = tuple(operands)
        # Operands as plain numbers, by position: one view for each, however often it is read.
        self._plain: dict[int, BuiltTensor] = {}
        self._attrs = {a.name: a for a in proto.attribute}

    # Operands

    @property
    def operands(self) -> tuple[BuiltTensor | None, ...]:
        """All operands as ``optional`` returns them."""
        return tuple(self.optional(i) for i in range(len(self._operands)))

    def optional(self, position: int, *accepted: DType) -> BuiltTensor | None:
        """An operand, or None if it is left out. Integers are plain numbers, even if an earlier
        operator has given them a scale, because operators of ONNX compute with stored values.
        UnsupportedError if its dtype is not among ``accepted``; if this is empty, all dtypes are
        accepted.
        """
        tensor = self.typed(position)
        if tensor is not None and tensor.labels is not None:
            raise self.unsupported(
                f"reads texts, those of input {position}",
                supported="moves of texts, LabelEncoder, OneHotEncoder, and texts as outputs",
            )
        if tensor is not None and tensor.type.quant is not None:
            if position not in self._plain:
                self._plain[position] = reinterpreted(self, tensor, None)
            tensor = self._plain[position]
        if tensor is not None and accepted:
            self.expect(tensor, *accepted)
        return tensor

    def typed(self, position: int) -> BuiltTensor | None:
        """An operand with the scale that an operator has given it, or None if it is left out."""
        return self._operands[position] if position < len(self._operands) else None

    def tensor(self, position: int, *accepted: DType) -> BuiltTensor:
        """An operand as ``optional`` returns it. ModelError if it is left out."""
        operand = self.optional(position, *accepted)
        if operand is None:
            raise self.invalid(f"has no input {position}, which the operator needs")
        return operand

    def texts(self, position: int) -> BuiltTensor:
        """An operand that may be texts: it then has the indices of its ``labels``. ModelError if it
        is left out."""
        operand = self.typed(position)
        has_texts = operand is not None and operand.labels is not None
        return operand if operand is not None and has_texts else self.tensor(position)

    def tensors(self) -> tuple[BuiltTensor, ...]:
        """All operands. ModelError if one is left out, or there is none."""
        return tuple(self.tensor(i) for i in range(max(1, len(self._operands))))

    def constant_of(self, position: int, what: str) -> Array:
        """The value of an operand that must be constant; ``what`` names it ("axes"). The error for
        one that is not constant says how to bind an input of the model."""
        tensor = self.tensor(position)
        if tensor.value is not None:
            return tensor.value
        # Only inputs of the model itself can be bound.
        if tensor.name in self.walk.inputs:
            hint = f"give its value with --bind {short(tensor.name)}=FILE.npy, or =NUMBERS"
        else:
            hint = "export the model with constant shapes and parameters"
        raise UnsupportedError(f"has computed {what}", where=self.where, hint=hint)

    def optional_constant(self, position: int, what: str) -> Array | None:
        """As ``constant_of``; None if the operand is left out."""
        return None if self.optional(position) is None else self.constant_of(position, what)

    # Nodes

    def emit(
        self, op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], *output: Any, **kinds: Any
    ) -> BuiltTensor:
        """As ``Operator.emit``. A constant whose values only move keeps its stored form. An
        elementwise result of empty tensors is an empty constant.
        """
        empty = [tensor.type for tensor in inputs if not tensor.type.size]
        if empty:
            shape = self.inferred(op, attrs, inputs)
            if op in _OF_EACH and 0 in shape:
                dtype = kinds.get("dtype") or inputs[-1].dtype
                return self.constant(np.empty(shape, dtype.numpy), "empty")
            # Only joining and padding make elements from empty tensors.
            if op not in ("concatenate", "nn.pad"):
                what = f"of {empty[0]} has no elements"
                raise self.unsupported(what, supported="axes of 1 or more")
        # Integers that the model stores for floats survive moves, so that layers of them remain
        # integers.
        stored = None if output else provenance.moved(op, attrs, inputs, self.where)
        if stored is not None:
            return self.dequantized(stored, kinds.get("hint") or op)
        return super().emit(op, attrs, inputs, *output, **kinds)

    def declared_for(self, position: int, output: int = 0) -> tuple[int, ...] | None:
        """The shape that the model declares for an output, if the operand that determines it is
        computed. The model promises that shape, so importers may use it in place of the operand.
        None if the operand is left out or constant, or no such shape is declared."""
        operand = self.optional(position)
        if operand is None or operand.is_constant or output >= len(self.outputs):
            return None
        # Functions declare no shapes.
        return None if self.scope.depth else self.walk.declared.shape(self.outputs[output])

    def note(self, what: str) -> None:
        """Let the graph have a note about this layer."""
        self.walk.declared.notes.append(f'the layer "{short(self.name)}": {what}')

    # Attributes

    def attr(self, name: str, default: Any = _NOTHING) -> Any:
        """An attribute: int, float, str, a tuple of them, or an array. Without a default,
        ModelError if it is absent.
        """
        proto = self._attrs.get(name)
        if proto is not None:
            return types.attribute(proto, self.where)
        if default is _NOTHING:
            raise self.invalid(f"has no attribute {name!r}, which the operator needs")
        return default

    def ints(self, name: str, default: Any = _NOTHING) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        value = self.attr(name, default)
        if value is None:
            return ()
        if not isinstance(value, tuple) or not all(isinstance(v, int) for v in value):
            raise self.invalid(f"has the {name} {value!r}; a list of integers is expected")
        return value

    def ints_of(self, name: str, position: int) -> tuple[int, ...] | None:
        """Integers from an attribute, as in old opsets, or from a constant operand, as in newer
        opsets; None if both are absent."""
        if name in self._attrs:
            return self.ints(name)
        value = self.optional_constant(position, name)
        return None if value is None else tuple(int(v) for v in np.ravel(value))

    # Functions and branches

    def value(self) -> Value:
        """The outputs, from the model's own function, from the importer, or from the function that
        defines the operator.
        """
        if self.scope.depth:
            self.walk.count(self, self.scope.depth)
        # A function of the model comes first, also if ONNX has an operator of that name.
        local = self.walk.functions.local(self.proto)
        if local is not None:
            return self.called(local)
        labels = self._unlabelled() if self.op in _OF_TEXTS else None
        schema = schemas.find(self.proto, self.version)
        for sentence in schemas.violations(self.proto, schema, self._shown()) if schema else ():
            raise self.invalid(sentence)
        importer = self.walk.importers.get(self.op)
        value = importer(self) if importer else self.definition()
        if labels is None:
            return value
        return tuple(dataclasses.replace(tensor, labels=labels) for tensor in fields(value))

    def _shown(self) -> tuple[BuiltTensor | None, ...]:
        """The operands as ``operands`` has them, and texts as their indices."""
        every = range(len(self._operands))
        return tuple(self.typed(i) if self._has_texts(i) else self.optional(i) for i in every)

    def _has_texts(self, position: int) -> bool:
        operand = self.typed(position)
        return operand is not None and operand.labels is not None

    def _unlabelled(self) -> tuple[str, ...] | None:
        """The labels of the first operand, which this operator moves; afterwards the operand has
        none."""
        first = self.typed(0)
        if first is None or first.labels is None:
            return None
        self._operands = (dataclasses.replace(first, labels=None), *self._operands[1:])
        return first.labels

    def definition(self) -> Value:
        """The outputs, computed by the function with which ONNX defines the operator, so that an
        importer may leave cases to it. UnsupportedError if there is none."""
        body = functions.of_schema(self.proto, self.version, self.operands)
        if body:
            return self.called(body)
        advice = schemas.of_runtime(self.proto.domain)
        if advice:
            what = f"operator {self.op} is of ONNX Runtime only, whose optimizations make such"
            raise self.unsupported(what, hint=advice)
        # The table is empty, so this raises the error for an operator without an importer.
        return tables.of(self, {})

    def called(self, body: FunctionBody) -> Value:
        """The outputs, computed by the nodes of a function."""
        if len(self.operands) > len(body.inputs):
            raise self.invalid(
                f"has {len(self.operands)} inputs, but its function has {len(body.inputs)}"
            )
        scope = self.scope.inner(self.name, body.versions, body.attributes)
        pairs = list(zip(body.outputs, self.outputs, strict=False))
        wanted = [name for name, output in pairs if output]
        scope.public = {name: output for name, output in pairs if output}
        for i, name in enumerate(body.inputs):
            scope.add(name, self.optional(i))
        made = dict(zip(wanted, self.walk.outputs(body.nodes, scope, wanted), strict=True))
        # Any tensor takes the place of an output that is left out.
        return tuple(made.get(name, made[wanted[0]]) for name, _ in pairs)

    def attributes(self, *without: str) -> list[AttributeProto]:
        """All attributes but some, for the nodes of a function."""
        return [each for name, each in self._attrs.items() if name not in without]

    def graph_of(self, name: str) -> GraphProto | None:
        """The graph that is an attribute; None if it is no graph."""
        proto = self._attrs.get(name)
        return proto.g if proto is not None and proto.type == AttributeProto.GRAPH else None

    # Result

    def finished(self, value: Value) -> tuple[BuiltTensor, ...]:
        """The outputs. Nodes that compute them get the model's names for them."""
        tensors = fields(value)
        wanted = {
            tensor.name: name
            for tensor, name in zip(tensors, self.outputs, strict=False)
            if name and tensor.name != name
        }
        return fields(self.named(tuple(tensors), wanted))
