"""What an operator's importer works with: a call's arguments and attributes, and nodes to make."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.errors import ModelError, UnsupportedError
from microgen.frontends.relay import tensors
from microgen.frontends.relay.tensors import Place, Tensor, Tensors, Value, fields
from microgen.ir.graph import Array, Attrs, DType, Node, Origin, Quant, TensorType
from microgen.ops import budget, registry
from microgen.ops.layout_transform import LayoutTransformAttrs
from microgen.ops.reshape import ReshapeAttrs
from microgen.relay import expr as relay

_SAME: Any = object()


@dataclass(frozen=True, slots=True)
class Sums:
    """A convolution or a dense layer that may still be given a bias or other weights.

    ``data``, ``weight`` and ``bias`` are in the layouts of the graph's op; ``finish`` makes the
    call's result of the op's, whose channels are the result's axis ``axis`` then.
    ``weight_axis`` of the weight is that of the channels. ``layouts`` are those declared.
    ``dtype`` and ``quant`` are the result's; None: the data's dtype.
    """

    op: str
    attrs: Attrs
    data: Tensor
    weight: Tensor
    bias: Tensor | None
    axis: int
    weight_axis: int
    finish: Callable[[RelayCall, Tensor], Tensor]
    layouts: tuple[tuple[str, str], ...] = ()
    dtype: DType | None = None
    quant: Quant | None = None

    @property
    def channels(self) -> int:
        """How many there are."""
        return self.weight.shape[self.weight_axis]


@dataclass(slots=True)
class Memory:
    """What calls leave for later ones.

    ``sums``: by the name of its result, each convolution that has one reader. ``moved``: constants
    in other layouts.
    """

    sums: dict[str, Sums] = dataclasses.field(default_factory=dict)
    moved: dict[tuple[str, object], Tensor] = dataclasses.field(default_factory=dict)


Importer = Callable[["RelayCall"], Value]


class RelayCall:
    """One call of a Relay operator, on its way into the graph.

    ``name`` is what the printer calls its result ("%3"), ``attrs`` has every attribute, ``args``
    the arguments' values, ``result`` the inferred type.
    """

    def __init__(
        self,
        name: str,
        call: relay.Call,
        args: Sequence[Value],
        result: relay.Type,
        *,
        file: str,
        place: Place,
        graph: Tensors,
        memory: Memory,
        is_read_once: bool,
    ) -> None:
        assert isinstance(call.op, relay.Op)
        line = f" (line {call.span.line})" if call.span else ""
        self.origin = Origin(file, f"{name} {call.op.name}{line}")
        self.where = str(self.origin)
        self.name = name
        self.op = call.op.name
        self.attrs: Mapping[str, Any] = call.attrs
        self.args = tuple(args)
        self.result = result
        self._layouts = tuple((k, v) for k, v in call.attrs.items() if k.endswith("layout"))
        self._is_read_once = is_read_once
        self._place = place
        self._graph = graph
        self._memory = memory
        self._first = len(graph.nodes)
        self._made: dict[str, None] = {}
        self._sums: Sums | None = None

    # Errors

    def invalid(self, what: str) -> ModelError:
        """The error for a call that contradicts itself."""
        return ModelError(what, where=self.where)

    def unsupported(self, what: str, *, supported: str) -> UnsupportedError:
        """The error for a sound call that microgen has no means for."""
        return UnsupportedError(
            f"{self.op} {what}", where=self.where, hint=f"supported: {supported}"
        )

    # Arguments

    def tensor(self, position: int) -> Tensor:
        """An argument that is a tensor."""
        value = self.args[position]
        if not isinstance(value, Tensor):
            raise self.invalid(f"has a tuple as argument {position}; a tensor is expected")
        return value

    def tensors(self, position: int) -> tuple[Tensor, ...]:
        """An argument that is a tuple of tensors."""
        return fields(self.args[position])

    def constant_of(self, position: int, what: str) -> Array:
        """The value of an argument that must be constant."""
        value = self.tensor(position).value
        if value is None:
            raise self.unsupported(f"has {what} that is computed", supported=f"constant {what}")
        return value

    def output(self, position: int | None = None) -> TensorType:
        """The type of the result, or of one of its fields."""
        found = self.result
        if position is not None and isinstance(found, relay.TupleType):
            found = found.fields[position]
        assert isinstance(found, relay.TensorType)
        return tensors.type_of(found, self.where)

    def expect(self, tensor: Tensor, *dtypes: DType) -> None:
        """Raise UnsupportedError unless the tensor is of one of the dtypes."""
        if tensor.dtype not in dtypes:
            names = ", ".join(dtype.value for dtype in dtypes)
            raise self.unsupported(f"of {tensor.type} has no kernel", supported=names)

    # Nodes

    def emit(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[Tensor],
        *,
        dtype: DType | None = None,
        quant: Quant | None = _SAME,
        hint: str = "",
    ) -> Tensor:
        """The output of a new node; of constants, what it computes, as a constant.

        Dtype and quantization are the first input's unless given. ``hint`` is a word of the
        tensor's name, which the call's result has none of.
        """
        definition = registry()[op]
        kinds = [tensor.type for tensor in inputs]
        try:
            (shape,) = definition.infer(attrs, kinds)
        except ValueError as error:
            raise self.invalid(f"{self.op}: {error}") from None
        kind = TensorType(
            shape, dtype or kinds[0].dtype, kinds[0].quant if quant is _SAME else quant
        )
        tensors.checked(kind, self.where)
        sentence = definition.check(attrs, kinds, [kind])
        if sentence is not None:
            raise self.unsupported(
                f"has no kernel: {sentence}", supported="`microgen ops` lists it"
            )
        return self._added(op, attrs, inputs, kind, hint or op)

    def _added(
        self, op: str, attrs: Attrs, inputs: Sequence[Tensor], kind: TensorType, hint: str
    ) -> Tensor:
        name = self._graph.fresh(f"{self.name}#{hint}")
        node = Node(
            op,
            tuple(tensor.name for tensor in inputs),
            (name,),
            attrs,
            self.origin,
            self._place.target,
            self._place.function,
            self._layouts,
        )
        value = tensors.folded(node, inputs, kind, self.where)
        self._made[name] = None
        if value is not None:
            return self._graph.constant(name, value, kind)
        self._graph.nodes.append(node)
        return self._graph.declare(name, kind)

    def constant(self, value: Array, hint: str, quant: Quant | None = None) -> Tensor:
        """A new constant, made of others."""
        budget.spend_array(value.nbytes, self.where)
        kind = TensorType(tuple(value.shape), DType(value.dtype.name), quant)
        tensor = self._graph.constant(f"{self.name}#{hint}", value, kind)
        self._made[tensor.name] = None
        return tensor

    def laid_out(self, tensor: Tensor, source: str, target: str) -> Tensor:
        """The tensor with its axes in another order; a constant is moved once for all calls."""
        if source == target:
            return tensor
        return self._shared(
            tensor, "layout_transform", LayoutTransformAttrs(source, target), target
        )

    def reshaped(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        """The tensor under another shape."""
        if tensor.shape == tuple(shape):
            return tensor
        return self._shared(tensor, "reshape", ReshapeAttrs(tuple(shape)), "reshape")

    def _shared(self, tensor: Tensor, op: str, attrs: Attrs, hint: str) -> Tensor:
        if tensor.value is None:
            return self.emit(op, attrs, (tensor,), hint=hint)
        key = (tensor.name, attrs)
        if key not in self._memory.moved:
            moved = self.emit(op, attrs, (tensor,), hint=hint)
            self._made.pop(moved.name)
            self._memory.moved[key] = moved
        return self._memory.moved[key]

    # Convolutions

    def sums_of(self, tensor: Tensor) -> Sums | None:
        """The convolution that computes a tensor for this call alone, if one does."""
        return self._memory.sums.get(tensor.name)

    def emit_sums(self, sums: Sums) -> Tensor:
        """The result of a convolution, which the only call that reads it may change."""
        bias = () if sums.bias is None else (sums.bias,)
        self._layouts = sums.layouts or self._layouts
        if self._is_read_once:
            self._sums = dataclasses.replace(sums, layouts=self._layouts)
        inputs = (sums.data, sums.weight, *bias)
        found = self.emit(
            sums.op, sums.attrs, inputs, dtype=sums.dtype, quant=sums.quant, hint="NHWC"
        )
        return sums.finish(self, found)

    # The end

    def finished(self, value: Value) -> Value:
        """The result under its name: that of the call, or with the field's number behind it."""
        names = self._names(value)
        self._graph.rename(names, self._first)
        found = _renamed(value, names)
        if self._sums is not None and isinstance(found, Tensor):
            self._memory.sums[found.name] = self._sums
        return found

    def _names(self, value: Value) -> dict[str, str]:
        if isinstance(value, Tensor):
            wanted = {value.name: self.name}
        else:
            wanted = {f.name: f"{self.name}.{i}" for i, f in enumerate(fields(value))}
        return {old: self._graph.fresh(new) for old, new in wanted.items() if old in self._made}


def _renamed(value: Value, names: Mapping[str, str]) -> Value:
    if isinstance(value, Tensor):
        return dataclasses.replace(value, name=names.get(value.name, value.name))
    return tuple(_renamed(part, names) for part in value)
