"""The graph while it is built: tensors by name, nodes in order. Constants are folded
immediately."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from microgen.base.errors import UnsupportedError
from microgen.graph.ir.graph import (
    MAX_BYTES,
    Array,
    ArrayType,
    Attrs,
    DType,
    Graph,
    Node,
    Stored,
    constant,
    frozen,
    live_nodes,
)
from microgen.graph.ops import budget
from microgen.graph.ops.base import Operands
from microgen.graph.stored import Constants, floats


@dataclass(frozen=True, slots=True)
class BuiltTensor:
    """A tensor of the graph."""

    name: str
    type: ArrayType
    # The value of a constant, unless it is computed from ``stored``.
    given: Array | None = field(default=None, compare=False, repr=False)
    # it keeps the value that its only reader writes, until the next inference
    is_variable: bool = False
    is_int4: bool = False  # the model stores the constant in 4 bits
    # for a float constant that the model stores as integers
    stored: Stored | None = field(default=None, compare=False, repr=False)
    # the texts that its values index, if the model has texts instead of indices
    labels: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def is_constant(self) -> bool:
        """Whether it has a value."""
        return self.given is not None or self.stored is not None

    @property
    def value(self) -> Array | None:
        """The value of a constant, otherwise None. If the model stores integers for it, the floats
        are computed now: ``is_constant`` costs nothing."""
        if self.given is None and self.stored is not None:
            return floats(self.stored)
        return self.given

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the tensor's axes."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The type of the tensor's elements."""
        return self.type.dtype


Value = BuiltTensor | tuple["Value", ...]


def fields(value: Value) -> tuple[BuiltTensor, ...]:
    """The tensors of a value. Nested tuples are flattened in order."""
    tensors: list[BuiltTensor] = []
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, BuiltTensor):
            tensors.append(top)
        else:
            stack.extend(reversed(top))
    return tuple(tensors)


def renamed(value: Value, names: Mapping[str, str]) -> Value:
    """The value with its tensors under other names."""
    if isinstance(value, BuiltTensor):
        new = names.get(value.name)
        return value if new is None else dataclasses.replace(value, name=new)
    return tuple(renamed(part, names) for part in value)


def checked(type_: ArrayType, where: str) -> ArrayType:
    """The type. Raises UnsupportedError if its tensors have no elements, or more bytes than an
    int32_t counts."""
    if type_.size < 1:
        raise UnsupportedError(
            f"{type_} has no elements", where=where, hint="supported: axes of 1 or more"
        )
    if type_.nbytes > MAX_BYTES:
        raise UnsupportedError(
            f"{type_} has {type_.nbytes} bytes", where=where, hint=f"supported: up to {MAX_BYTES}"
        )
    return type_


def folded(
    op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], output: ArrayType, where: str
) -> Array | None:
    """The output of an op whose inputs are all constant; None if an input is not.

    Raises UnsupportedError if the computation exceeds the budget of compile time, and StatusError
    if the op has no result.
    """
    if not all(tensor.is_constant for tensor in inputs):
        return None
    values = tuple(value for value in (tensor.value for tensor in inputs) if value is not None)
    operands = Operands(values, tuple(tensor.type for tensor in inputs), (output,))
    (value,) = budget.evaluated(op, attrs, operands, where)
    return value


def fresh(wanted: str, taken: Container[str]) -> str:
    """The wanted name, or, if it is taken, the first free name with a number after it."""
    name, count = wanted, 0
    while name in taken:
        count += 1
        name = f"{wanted}'{count}"
    return name


@dataclass(slots=True)
class GraphBuilder:
    """The nodes, tensors and variables of a graph that is being built."""

    nodes: list[Node] = field(default_factory=list)
    types: dict[str, ArrayType] = field(default_factory=dict)
    constants: Constants = field(default_factory=Constants)
    variables: dict[str, None] = field(default_factory=dict)
    initial: dict[str, Array] = field(default_factory=dict)  # of variables that do not begin at 0
    updates: dict[str, BuiltTensor] = field(default_factory=dict)  # the next values of variables
    int4: set[str] = field(default_factory=set)  # constants that the model stores in 4 bits
    # the texts of the tensors that are indices of some
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # the stored integers of float constants
    stored: dict[str, Stored] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        """A name that no tensor has yet: the wanted one, with a number after it if it is taken."""
        return fresh(wanted, self.types)

    def declare(self, wanted: str, type_: ArrayType) -> BuiltTensor:
        """A new tensor."""
        name = self.fresh(wanted)
        self.types[name] = type_
        return BuiltTensor(name, type_)

    def constant(self, wanted: str, value: Array, type_: ArrayType) -> BuiltTensor:
        """A new constant."""
        name = self.declare(wanted, type_).name
        self.constants[name] = constant(value)
        return BuiltTensor(name, type_, self.constants[name])

    def dequantized(self, wanted: str, stored: Stored) -> BuiltTensor:
        """A new constant of floats, for which the model stores integers."""
        kind = ArrayType(tuple(stored.values.shape), DType.FLOAT32)
        name = self.declare(wanted, kind).name
        self.constants.keep(name, stored)
        self.stored[name] = stored
        return BuiltTensor(name, kind, stored=stored)

    def keep(self, tensor: BuiltTensor, initial: Array) -> None:
        """Make a tensor a variable with an initial value. ``updates`` or ``graph`` gets its next
        value."""
        self.types.setdefault(tensor.name, tensor.type)
        self.variables[tensor.name] = None
        self.initial[tensor.name] = frozen(initial)

    def add(self, node: Node, tensors: Iterable[BuiltTensor]) -> None:
        """Append a node. ``tensors`` are the tensors that the node names, which may be in the graph
        already.
        """
        self.nodes.append(node)
        self._know(tensors)

    def rename(self, names: Mapping[str, str], first: int) -> None:
        """Rename tensors in the nodes from number ``first`` on, which compute these tensors."""
        if not names:
            return
        for old, new in names.items():
            self.types[new] = self.types.pop(old)
            if old in self.constants:
                self.constants.rename(old, new)
        for i in range(first, len(self.nodes)):
            node = self.nodes[i]
            inputs, outputs = (
                tuple(names.get(name, name) for name in side)
                for side in (node.inputs, node.outputs)
            )
            self.nodes[i] = dataclasses.replace(node, inputs=inputs, outputs=outputs)

    def drop_dead(self, outputs: Sequence[BuiltTensor]) -> None:
        """Keep only the nodes that the outputs depend on."""
        self.nodes = list(live_nodes(self.nodes, (tensor.name for tensor in outputs)))

    def graph(
        self,
        name: str,
        inputs: Sequence[BuiltTensor],
        outputs: Sequence[BuiltTensor],
        *,
        fixed: Mapping[str, tuple[int, ...]] | None = None,
        output_names: tuple[str, ...] = (),
        updates: Mapping[str, BuiltTensor] | None = None,
    ) -> Graph:
        """The graph of all nodes, with the tensors that they, ``inputs`` and ``outputs`` name.
        ``updates`` are further next values of variables that ``keep`` has made."""
        latest = {**self.updates, **(updates or {})}
        self._know((*inputs, *outputs, *latest.values()))
        ports = [tensor.name for tensor in (*inputs, *outputs)]
        ports += [name for own, tensor in latest.items() for name in (own, tensor.name)]
        used = {*ports, *(n for node in self.nodes for n in (*node.inputs, *node.outputs))}
        order = [each for each in dict.fromkeys((*ports, *self.types)) if each in used]
        return Graph(
            name=name,
            inputs=tuple(tensor.name for tensor in inputs),
            outputs=tuple(tensor.name for tensor in outputs),
            nodes=tuple(self.nodes),
            types={each: self.types[each] for each in order},
            constants=self.constants.only(order),
            variables=tuple(each for each in order if each in self.variables),
            fixed=fixed or {},
            output_names=output_names,
            updates={name: tensor.name for name, tensor in latest.items()},
            initial={each: self.initial[each] for each in order if each in self.initial},
            int4=frozenset(self.int4 & used),
            stored={each: own for each, own in self.stored.items() if each in used},
        )

    def _know(self, tensors: Iterable[BuiltTensor]) -> None:
        for tensor in tensors:
            self.types.setdefault(tensor.name, tensor.type)
            if tensor.is_constant and tensor.name not in self.constants:
                self._add(tensor)
            if tensor.is_variable:
                self.variables.setdefault(tensor.name)
            if tensor.is_int4:
                self.int4.add(tensor.name)
            if tensor.stored is not None:
                self.stored[tensor.name] = tensor.stored

    def _add(self, tensor: BuiltTensor) -> None:
        if tensor.given is not None:
            self.constants[tensor.name] = tensor.given
        elif tensor.stored is not None:
            self.constants.keep(tensor.name, tensor.stored)
