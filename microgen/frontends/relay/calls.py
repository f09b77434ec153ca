"""The interface of Relay's importers: the arguments and attributes of a call, and the methods that
add its nodes to the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from microgen.base.errors import ModelError, UnsupportedError
from microgen.frontends.operators import Operator
from microgen.frontends.relay.scopes import RelayScope
from microgen.frontends.relay.types import NodePlace, type_of
from microgen.frontends.sums import PendingSums
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, fields
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Node, Origin, Quant
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.relay import expr as relay

Importer = Callable[["RelayCall"], Value]


class RelayCall(Operator):
    """One call of a Relay operator while it is imported.

    ``name`` is the printer's name for its result ("%3"). ``attrs`` has every attribute, ``args``
    has the arguments' values, and ``result`` is the inferred type.
    """

    def __init__(
        self,
        call: relay.Call,
        args: Sequence[Value],
        result: relay.Type,
        scope: RelayScope,
        place: NodePlace,
        *,
        file: str,
        graph: GraphBuilder,
    ) -> None:
        assert isinstance(call.op, relay.Op)
        name, op = scope.name(call), call.op.name
        line = f" (line {call.span.line})" if call.span else ""
        origin = Origin(file, f"{name} {op}{line}")
        moved = scope.memory.moved
        super().__init__(op, name, origin, graph=graph, moved=moved, where=str(origin))
        self.attrs: Mapping[str, Any] = call.attrs
        self.args = tuple(args)
        self.result = result
        self._layouts = tuple((k, v) for k, v in call.attrs.items() if k.endswith("layout"))
        self._is_read_once = scope.is_read_once(call)
        self._place = place
        self._memory = scope.memory
        self._sums: PendingSums | None = None

    # Errors

    def unsupported(self, what: str, *, supported: str = "", hint: str = "") -> UnsupportedError:
        """The error for a sound call that microgen cannot compute."""
        return super().unsupported(f"{self.op} {what}", supported=supported, hint=hint)

    def _impossible(self, error: str) -> ModelError:
        return self.invalid(f"{self.op}: {error}")

    # Arguments

    def tensor(self, position: int, *accepted: DType) -> BuiltTensor:
        """An argument that is a tensor, of one of the accepted dtypes, or of any dtype if none are
        named."""
        value = self.args[position]
        if not isinstance(value, BuiltTensor):
            raise self.invalid(f"has a tuple as argument {position}; a tensor is expected")
        if accepted:
            self.expect(value, *accepted)
        return value

    def tensors(self, position: int) -> tuple[BuiltTensor, ...]:
        """An argument that is a tuple of tensors."""
        return fields(self.args[position])

    def constant_of(self, position: int, what: str) -> Array:
        """The value of an argument that must be constant."""
        value = self.tensor(position).value
        if value is None:
            raise self.unsupported(f"has {what} that is computed", supported=f"constant {what}")
        return value

    def output(self, position: int | None = None) -> ArrayType:
        """The type of the result, or of one of its fields."""
        result = self.result
        if position is not None and isinstance(result, relay.TupleType):
            result = result.fields[position]
        assert isinstance(result, relay.TensorType)
        return type_of(result, self.where)

    # Nodes

    def _node(
        self, op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], output: BuiltTensor
    ) -> Node:
        node = super()._node(op, attrs, inputs, output)
        place = self._place
        return dataclasses.replace(
            node, target=place.target, function=place.function, layouts=self._layouts
        )

    def cast(self, tensor: BuiltTensor, dtype: DType, quant: Quant | None = None) -> BuiltTensor:
        """The tensor's numbers in a dtype; the tensor itself if it has the dtype already."""
        if tensor.dtype is dtype:
            return tensor
        return self.emit("cast", CastAttrs(), (tensor,), dtype=dtype, quant=quant)

    # Convolutions

    def sums_of(self, tensor: BuiltTensor) -> PendingSums | None:
        """The convolution that computes a tensor which only this call reads, if there is one."""
        return self._memory.sums.get(tensor.name)

    def emit_sums(self, sums: PendingSums) -> BuiltTensor:
        """The result of a convolution. If only one call reads it, that call may change the
        convolution."""
        bias = () if sums.bias is None else (sums.bias,)
        self._layouts = sums.layouts or self._layouts
        if self._is_read_once:
            self._sums = dataclasses.replace(sums, layouts=self._layouts)
        inputs = (sums.data, sums.weight, *bias)
        tensor = self.emit(
            sums.op, sums.attrs, inputs, dtype=sums.dtype, quant=sums.quant, hint="NHWC"
        )
        return sums.finish(self, tensor)

    # Result

    def finished(self, value: Value) -> Value:
        """The result, renamed after the call. The name of a tuple's field ends in its number."""
        if isinstance(value, BuiltTensor):
            wanted = {value.name: self.name}
        else:
            wanted = {f.name: f"{self.name}.{i}" for i, f in enumerate(fields(value))}
        result = self.named(value, wanted)
        if self._sums is not None and isinstance(result, BuiltTensor):
            self._memory.sums[result.name] = self._sums
        return result
