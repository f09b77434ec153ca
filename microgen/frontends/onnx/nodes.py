"""The interface of ONNX's importers: the operands and attributes of a node, and the methods that
add its nodes to the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np
import onnx

from microgen.base.errors import UnsupportedError, short
from microgen.frontends.numerics import Numerics
from microgen.frontends.onnx import provenance, schemas, types
from microgen.frontends.onnx.functions import FunctionBody
from microgen.frontends.operators import Moved, Operator
from microgen.frontends.quantization import reinterpreted
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, fields
from microgen.graph.ir.graph import Array, Attrs, Origin

_NOTHING: Any = object()
_OF_EACH = frozenset(  # ops whose every result is made of one element of each input
    {
        *("abs", "add", "broadcast_to", "cast", "clip", "divide", "exp", "log", "maximum"),
        *("minimum", "multiply", "negative", "real_function", "reshape", "sigmoid", "sqrt"),
        *("strided_slice", "subtract", "tanh", "transpose", "where"),
    }
)


def operator_name(proto: onnx.NodeProto) -> str:
    """The key of a node's importer: the operator's name, after its domain if that is not ONNX's."""
    domain = schemas.domain(proto.domain)
    return f"{domain}.{proto.op_type}" if domain else str(proto.op_type)


class NodeSurroundings(Protocol):
    """The surroundings of a node, as ``OnnxNode`` uses them."""

    def declared(self, name: str) -> tuple[int, ...] | None:
        """The shape that the model declares for a tensor."""

    def definition(self, node: OnnxNode) -> Value:
        """The node's outputs, computed by the function that defines its operator."""

    def called(self, node: OnnxNode, body: FunctionBody) -> Value:
        """The node's outputs, computed by the nodes of a function."""

    def branch(
        self,
        node: OnnxNode,
        graph: onnx.GraphProto,
        operands: Sequence[BuiltTensor] = (),
        step: str = "",
    ) -> Value:
        """The outputs of a graph that reads the operands, and tensors around the node."""


# How to export a network for inference.
EVAL = "call network.eval() before torch.onnx.export, or export with training=TrainingMode.EVAL"


class OnnxNode(Operator):
    """One node while it is imported.

    ``version`` is the version of the node's domain that the model imports: 13 for opset 13.
    ``outputs`` has the names of its outputs, "" for outputs that nothing reads. ``numerics`` is the
    profile that rounds.
    """

    def __init__(
        self,
        proto: onnx.NodeProto,
        operands: Sequence[BuiltTensor | None],
        version: int,
        *,
        file: str,
        graph: GraphBuilder,
        moved: Moved,
        numerics: Numerics,
        fed: Collection[str] = (),
        place: NodeSurroundings,
    ) -> None:
        self.outputs = tuple(proto.output)
        name = next(filter(None, self.outputs), proto.name)
        op = operator_name(proto)
        origin = Origin(file, name)
        where = f'{file}: layer "{short(name)}" ({op}, opset {version})'
        super().__init__(op, name, origin, graph=graph, moved=moved, where=where)
        self.version = version
        self.numerics = numerics
        self._operands = tuple(operands)
        self._plain: dict[int, BuiltTensor] = {}
        self._attrs = {a.name: a for a in proto.attribute}
        self._fed = fed
        self._place = place

    # Operands

    @property
    def operands(self) -> tuple[BuiltTensor | None, ...]:
        """All operands as ``optional`` returns them."""
        return tuple(self.optional(i) for i in range(len(self._operands)))

    def optional(self, position: int) -> BuiltTensor | None:
        """An operand, or None if it is left out. Integers are plain numbers, even if an earlier
        operator has given them a scale, because operators of ONNX compute with stored values.
        """
        found = self.typed(position)
        if found is None or found.type.quant is None:
            return found
        if position not in self._plain:
            self._plain[position] = reinterpreted(self, found, None)
        return self._plain[position]

    def typed(self, position: int) -> BuiltTensor | None:
        """An operand with the scale that an operator has given it, or None if it is left out."""
        return self._operands[position] if position < len(self._operands) else None

    def tensor(self, position: int) -> BuiltTensor:
        """An operand. ModelError if it is left out."""
        found = self.optional(position)
        if found is None:
            raise self.invalid(f"has no input {position}, which the operator needs")
        return found

    def tensors(self) -> tuple[BuiltTensor, ...]:
        """All operands. ModelError if one is left out, or there is none."""
        return tuple(self.tensor(i) for i in range(max(1, len(self._operands))))

    def constant_of(self, position: int, what: str) -> Array:
        """The value of an operand that must be constant; ``what`` names it ("axes"). The error for
        one that is not constant says how to bind an input of the model."""
        tensor = self.tensor(position)
        if tensor.value is not None:
            return tensor.value
        if tensor.name in self._fed:
            hint = f"give its value with --bind {short(tensor.name)}=FILE.npy, or =NUMBERS"
        else:
            hint = "export the model with constant shapes and parameters"
        raise UnsupportedError(f"has computed {what}", where=self.where, hint=hint)

    def optional_constant(self, position: int, what: str) -> Array | None:
        """As ``constant_of``; None if the operand is left out."""
        return None if self.optional(position) is None else self.constant_of(position, what)

    # Nodes

    def emit(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[BuiltTensor],
        output: BuiltTensor | None = None,
        **kinds: Any,
    ) -> BuiltTensor:
        """As ``Operator.emit``. A constant whose values only move keeps its stored form. An
        elementwise result of empty tensors is an empty constant.
        """
        if op in _OF_EACH and not all(tensor.type.size for tensor in inputs):
            shape = self.inferred(op, attrs, inputs)
            dtype = kinds.get("dtype") or inputs[-1].dtype
            if 0 in shape:
                return self.constant(np.empty(shape, dtype.numpy), "empty")
        found = super().emit(op, attrs, inputs, output, **kinds)
        stored = provenance.moved(op, attrs, inputs, found)
        return found if stored is None else dataclasses.replace(found, stored=stored)

    def declared_for(self, position: int, output: int = 0) -> tuple[int, ...] | None:
        """The shape that the model declares for an output, if the operand that determines it is
        computed. The model promises that shape, so importers may use it in place of the operand.
        None if the operand is left out or constant, or no such shape is declared."""
        operand = self.optional(position)
        if operand is None or operand.value is not None or output >= len(self.outputs):
            return None
        return self._place.declared(self.outputs[output])

    # Attributes

    def attr(self, name: str, default: Any = _NOTHING) -> Any:
        """An attribute: int, float, str, a tuple of them, or an array. Without a default,
        ModelError if it is absent.
        """
        found = self._attrs.get(name)
        if found is not None:
            return types.attribute(found, self.where)
        if default is _NOTHING:
            raise self.invalid(f"has no attribute {name!r}, which the operator needs")
        return default

    def ints(self, name: str, default: Any = _NOTHING) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        found = self.attr(name, default)
        if found is None:
            return ()
        if not isinstance(found, tuple) or not all(isinstance(v, int) for v in found):
            raise self.invalid(f"has the {name} {found!r}; a list of integers is expected")
        return found

    def ints_of(self, name: str, position: int) -> tuple[int, ...] | None:
        """Integers that are an attribute in old opsets and a constant operand in newer ones; None
        if both are absent."""
        if name in self._attrs:
            return self.ints(name)
        value = self.optional_constant(position, name)
        return None if value is None else tuple(int(v) for v in np.ravel(value))

    # Functions and branches

    def definition(self) -> Value:
        """The outputs, computed by the function with which ONNX defines the operator, so that an
        importer may leave cases to it. UnsupportedError if there is none."""
        return self._place.definition(self)

    def called(self, body: FunctionBody) -> Value:
        """The outputs, computed by the nodes of a function of an importer's own."""
        return self._place.called(self, body)

    def attributes(self, *without: str) -> list[onnx.AttributeProto]:
        """All attributes but some, for the nodes of a function."""
        return [each for name, each in self._attrs.items() if name not in without]

    def branch(self, name: str, operands: Sequence[BuiltTensor] = (), step: str = "") -> Value:
        """The outputs of the graph that is an attribute. Its nodes replace this node. ``operands``
        are the graph's inputs. ``step`` tells several imports of it apart.
        """
        found = self._attrs.get(name)
        if found is None or found.type != onnx.AttributeProto.GRAPH:
            raise self.invalid(f"has no graph {name!r}, which the operator needs")
        return self._place.branch(self, found.g, operands, step)

    def _check(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[BuiltTensor],
        shape: tuple[int, ...],
        output: BuiltTensor,
    ) -> None:
        """As in ``Operator``. Only joining and padding make elements from empty tensors."""
        empty = [tensor.type for tensor in inputs if not tensor.type.size]
        if empty and op not in ("concatenate", "nn.pad"):
            raise self.unsupported(f"of {empty[0]} has no elements", supported="axes of 1 or more")
        super()._check(op, attrs, inputs, shape, output)

    # Result

    def finished(self, value: Value) -> tuple[BuiltTensor, ...]:
        """The outputs. Nodes that compute them get the model's names for them."""
        found = fields(value)
        wanted = {
            tensor.name: name
            for tensor, name in zip(found, self.outputs, strict=False)
            if name and tensor.name != name
        }
        return fields(self.named(tuple(found), wanted))
