"""The graph as it grows: tensors by name, constants computed at once, nodes in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.errors import UnsupportedError
from microgen.ir.graph import MAX_BYTES, Array, DType, Node, Quant, TensorType, frozen
from microgen.ops import budget
from microgen.ops.base import Operands, StatusError
from microgen.relay import expr as relay

# Plain int8 and int16 numbers: the stored value is the real one.
PLAIN = Quant((1.0,), (0,))
_SCALED = (DType.INT8, DType.INT16)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the graph; ``value`` if it is constant."""

    name: str
    type: TensorType
    value: Array | None = field(default=None, compare=False, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of its axes."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self.type.dtype


Value = Tensor | tuple["Value", ...]


def fields(value: Value) -> tuple[Tensor, ...]:
    """The tensors of a value, those of nested tuples in order."""
    found: list[Tensor] = []
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, Tensor):
            found.append(top)
        else:
            stack.extend(reversed(top))
    return tuple(found)


def type_of(found: relay.TensorType, where: str) -> TensorType:
    """The graph's type for Relay's. UnsupportedError for what no kernel can hold."""
    try:
        dtype = DType(found.dtype)
    except ValueError:
        known = ", ".join(d.value for d in DType)
        raise UnsupportedError(
            f"{found} has a dtype that no kernel has", where=where, hint=f"supported: {known}"
        ) from None
    quant = PLAIN if dtype in _SCALED else None
    return checked(TensorType(found.shape, dtype, quant), where)


def checked(type_: TensorType, where: str) -> TensorType:
    """The type, if its tensors have elements and an int32_t counts their bytes."""
    if type_.size < 1:
        raise UnsupportedError(
            f"{type_} has no elements", where=where, hint="supported: axes of 1 or more"
        )
    if type_.nbytes > MAX_BYTES:
        raise UnsupportedError(
            f"{type_} has {type_.nbytes} bytes", where=where, hint=f"supported: {MAX_BYTES}"
        )
    return type_


@dataclass(slots=True)
class Tensors:
    """Nodes, types and constants so far."""

    nodes: list[Node] = field(default_factory=list)
    types: dict[str, TensorType] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        """A name that no tensor has yet: the wanted one, or with a number behind it."""
        name, count = wanted, 0
        while name in self.types:
            count += 1
            name = f"{wanted}'{count}"
        return name

    def declare(self, wanted: str, type_: TensorType) -> Tensor:
        """A new tensor."""
        name = self.fresh(wanted)
        self.types[name] = type_
        return Tensor(name, type_)

    def constant(self, wanted: str, value: Array, type_: TensorType) -> Tensor:
        """A new constant."""
        name = self.declare(wanted, type_).name
        self.constants[name] = frozen(value)
        return Tensor(name, type_, self.constants[name])

    def rename(self, names: Mapping[str, str], first: int) -> None:
        """Give tensors other names, in the nodes from number ``first`` on that make them."""
        for old, new in names.items():
            self.types[new] = self.types.pop(old)
            if old in self.constants:
                self.constants[new] = self.constants.pop(old)
        for i in range(first, len(self.nodes)):
            node = self.nodes[i]
            inputs, outputs = (
                tuple(names.get(name, name) for name in side)
                for side in (node.inputs, node.outputs)
            )
            self.nodes[i] = dataclasses.replace(node, inputs=inputs, outputs=outputs)


def folded(node: Node, inputs: Sequence[Tensor], output: TensorType, where: str) -> Array | None:
    """What a node of constants computes; None if it has an input that is none, or no result.

    UnsupportedError where that is too much to be computed while compiling.
    """
    values = tuple(tensor.value for tensor in inputs if tensor.value is not None)
    if len(values) < len(inputs):
        return None
    operands = Operands(values, tuple(tensor.type for tensor in inputs), (output,))
    try:
        (found,) = budget.evaluated(node.op, node.attrs, operands, where)
    except StatusError:
        return None
    return np.asarray(found)


@dataclass(frozen=True, slots=True)
class Place:
    """Where nodes run: the target's kind ("" is the host), and the external function that they are
    part of ("" is none)."""

    target: str = ""
    function: str = ""
