"""The interface of importers of all formats: one operator, and the methods that add nodes for it to
the graph.

An importer is a function of one ``Operator``; each format has a subclass, which reads operands and
attributes. The importer calls ``emit`` for each node and returns the values of the operator's
outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from microgen.base.errors import ModelError, UnsupportedError, short
from microgen.graph.builder import BuiltTensor, GraphBuilder, Value, checked, folded, renamed
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Node, Origin, Quant, Stored
from microgen.graph.ops import budget, registry
from microgen.graph.ops.base import Operands, StatusError
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

# The default of ``emit``'s ``quant``. It is not None, which means that the result has no scale.
_SAME: Any = object()

Moved = dict[tuple[str, object], BuiltTensor]
"""Constants under other shapes or layouts, by name and attributes: each is moved once."""


class Operator:
    """One operator of a model while it is imported. ``op`` is its name in the format, ``name`` the
    name of its result, and ``origin`` the origin of its nodes. ``where`` is the place that errors
    name, by default the layer and ``op``: ``invalid`` makes a ModelError with it, ``unsupported``
    an UnsupportedError."""

    def __init__(
        self,
        op: str,
        name: str,
        origin: Origin,
        *,
        graph: GraphBuilder,
        moved: Moved,
        where: str = "",
    ) -> None:
        self.op, self.name, self.origin = op, name, origin
        self.where = where or f'{origin.file}: layer "{short(origin.layer)}" ({op})'
        self._graph = graph
        self._moved = moved
        # Nodes before this one belong to other operators, whose tensors ``named`` must not rename.
        self._first = len(graph.nodes)
        # An ordered set of the names of the tensors that this operator has made.
        self._made: dict[str, None] = {}

    # Errors

    def invalid(self, what: str) -> ModelError:
        """The error for an operator that contradicts itself."""
        return ModelError(what, where=self.where)

    def unsupported(self, what: str, *, supported: str = "", hint: str = "") -> UnsupportedError:
        """The error for a sound operator that microgen cannot compute. Either ``supported`` names
        the cases that microgen can compute, or ``hint`` gives advice.
        """
        return UnsupportedError(what, where=self.where, hint=hint or f"supported: {supported}")

    def expect(self, tensor: BuiltTensor, *dtypes: DType) -> None:
        """Raise UnsupportedError unless the tensor is of one of the dtypes."""
        if tensor.dtype not in dtypes:
            names = ", ".join(dtype.value for dtype in dtypes)
            raise self.unsupported(f"of {tensor.type} has no kernel", supported=names)

    # Nodes

    def emit(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[BuiltTensor],
        output: BuiltTensor | None = None,
        *,
        dtype: DType | None = None,
        quant: Quant | None = _SAME,
        hint: str = "",
    ) -> BuiltTensor:
        """The output of a new node. If all inputs are constant, the result is computed and becomes
        a constant without a node. ``output`` is the tensor that the model declares, which gets the
        inferred shape. Without it a new tensor is made: it has the inferred shape, the first
        input's dtype and quantization unless others are given, and ``hint`` in its name."""
        shape, first = self.inferred(op, attrs, inputs), inputs[0].type
        if output is None:
            kind = ArrayType(shape, dtype or first.dtype, first.quant if quant is _SAME else quant)
            output = BuiltTensor(self._new_name(hint or op), kind)
        else:
            output = self._settled(output, shape)
        # References assume operands that were checked, so this comes before the folding.
        self._check(op, attrs, inputs, shape, output)
        self._made[output.name] = None
        try:
            value = folded(op, attrs, inputs, output.type, self.where)
        except StatusError as error:
            value = self._failing(error)
        if value is not None:
            return self._constant(output, value)
        self._graph.add(self._node(op, attrs, inputs, output), (*inputs, output))
        return output

    def emit_several(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[BuiltTensor],
        outputs: Sequence[ArrayType],
    ) -> tuple[BuiltTensor, ...]:
        """The outputs of a new node, whose types are given. They are constants if all inputs are.
        ModelError if the op has no such inputs and outputs."""
        kinds, definition = tuple(tensor.type for tensor in inputs), registry()[op]
        try:
            definition.infer(attrs, kinds)
        except ValueError as error:
            raise self._impossible(str(error)) from None
        if sentence := definition.check(attrs, kinds, outputs):
            raise self.invalid(sentence)
        values = [tensor.value for tensor in inputs if tensor.is_constant]
        if len(values) == len(inputs):
            operands = Operands(tuple(v for v in values if v is not None), kinds, tuple(outputs))
            found = budget.evaluated(op, attrs, operands, self.where)
            return tuple(self.constant(array, op, is_counted=True) for array in found)
        made = tuple(self._graph.declare(f"{self.name}#{op}", kind) for kind in outputs)
        self._made.update(dict.fromkeys(tensor.name for tensor in made))
        read, written = (tuple(tensor.name for tensor in side) for side in (inputs, made))
        self._graph.add(Node(op, read, written, attrs, self.origin), (*inputs, *made))
        return made

    def inferred(self, op: str, attrs: Attrs, inputs: Sequence[BuiltTensor]) -> tuple[int, ...]:
        """The shape of a node's output."""
        try:
            (shape,) = registry()[op].infer(attrs, [tensor.type for tensor in inputs])
        except ValueError as error:
            raise self._impossible(str(error)) from None
        return shape

    def constant(
        self, value: Array, hint: str, quant: Quant | None = None, *, is_counted: bool = False
    ) -> BuiltTensor:
        """A new constant that was computed from others; ``hint`` is part of its name.
        ``is_counted``: its cost was already charged to the budget."""
        if not is_counted:
            budget.spend_array(value.nbytes, self.where)
        kind = ArrayType(tuple(value.shape), DType(value.dtype.name), quant)
        tensor = self._constant(BuiltTensor(self._new_name(hint), kind), value)
        self._made[tensor.name] = None
        return tensor

    def dequantized(self, stored: Stored, hint: str) -> BuiltTensor:
        """A new constant of floats, for which the model stores integers."""
        tensor = self._graph.dequantized(self._new_name(hint), stored)
        self._made[tensor.name] = None
        return tensor

    def laid_out(self, tensor: BuiltTensor, source: str, target: str) -> BuiltTensor:
        """The tensor with its axes in another order. A constant is moved once for all operators.
        Nodes compute in NHWC, so an importer of an operator in another layout puts one of these
        before the node and one after it; the passes move and cancel them."""
        if source == target:
            return tensor
        return self._shared(
            tensor, "layout_transform", LayoutTransformAttrs(source, target), target
        )

    def reshaped(self, tensor: BuiltTensor, shape: Sequence[int]) -> BuiltTensor:
        """The tensor with another shape. A constant is reshaped once for all operators."""
        if tensor.shape == tuple(shape):
            return tensor
        return self._shared(tensor, "reshape", ReshapeAttrs(tuple(shape)), "reshape")

    def _shared(self, tensor: BuiltTensor, op: str, attrs: Attrs, hint: str) -> BuiltTensor:
        if not tensor.is_constant:
            return self.emit(op, attrs, (tensor,), hint=hint)
        key = (tensor.name, attrs)
        if key not in self._moved:
            moved = self.emit(op, attrs, (tensor,), hint=hint)
            # All operators share it, so none of them may give it the name of its own result.
            self._made.pop(moved.name)
            self._moved[key] = moved
        return self._moved[key]

    def state(self, type_: ArrayType, initial: Array, hint: str) -> BuiltTensor:
        """A new tensor that keeps its value between inferences. ``initial`` is broadcast to it."""
        budget.spend_array(type_.nbytes, self.where)
        tensor = BuiltTensor(self._new_name(hint), type_)
        self._graph.keep(tensor, np.broadcast_to(initial, type_.shape).copy())
        return tensor

    def become(self, state: BuiltTensor, value: BuiltTensor) -> None:
        """Let a state have this value in the next inference."""
        self._graph.updates[state.name] = value

    def named(self, value: Value, wanted: Mapping[str, str]) -> Value:
        """The value, with the tensors that this operator made renamed (tensor's name -> wanted
        name). A name that is already taken gets a suffix."""
        names = {old: self._graph.fresh(new) for old, new in wanted.items() if old in self._made}
        self._graph.rename(names, self._first)
        return renamed(value, names)

    # Methods that formats may override

    def _settled(self, output: BuiltTensor, shape: tuple[int, ...]) -> BuiltTensor:
        """A tensor that the model declares, with the shape that was inferred for it."""
        del shape  # formats that declare shapes compare it with theirs
        return output

    def _impossible(self, error: str) -> ModelError:
        """The error for inputs and attributes that allow no shape."""
        return self.invalid(error)

    def _check(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[BuiltTensor],
        shape: tuple[int, ...],
        output: BuiltTensor,
    ) -> None:
        """Raise unless the op can be computed; ``shape`` is the inferred one."""
        del shape  # an output that is not declared has it already
        checked(output.type, self.where)
        sentence = registry()[op].check(attrs, [tensor.type for tensor in inputs], [output.type])
        if sentence is not None:
            raise self.unsupported(
                f"has no kernel: {sentence}", supported="`microgen ops` lists it"
            )

    def _failing(self, error: StatusError) -> Array | None:
        """The result of an op of constants that fails: None, because the op then fails on the
        board.
        """
        del error
        return None

    def _constant(self, output: BuiltTensor, value: Array) -> BuiltTensor:
        """The output as a constant."""
        return self._graph.constant(output.name, value, output.type)

    def _new_name(self, hint: str) -> str:
        """A name for a tensor that the model does not have."""
        return self._graph.fresh(f"{self.name}#{hint}")

    def _node(
        self, op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], output: BuiltTensor
    ) -> Node:
        names = tuple(tensor.name for tensor in inputs)
        return Node(op, names, (output.name,), attrs, self.origin)
