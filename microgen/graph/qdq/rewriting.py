"""The graph while floats between stored integers become integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from microgen.graph.builder import fresh
from microgen.graph.ir.graph import (
    Array,
    ArrayType,
    Attrs,
    DType,
    Graph,
    Node,
    Origin,
    Quant,
    Stored,
    frozen,
)
from microgen.graph.ops import registry
from microgen.graph.ops.moves.views import ReinterpretAttrs, ReshapeAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs
from microgen.graph.ops.quantization.rescale import RequantizeAttrs
from microgen.graph.stored import Constants
from microgen.graph.unsigned import HALF, moved


class NotInteger(Exception):  # noqa: N818 - it is a reason, not an error
    """The reason why a layer is computed in floats: a sentence about the layer, without its
    subject."""


@dataclass(slots=True)
class Rewriting:
    """The state of the pass: the graph that computes floats between conversions, and the new
    graph."""

    graph: Graph
    stored: Mapping[str, Stored]  # the stored forms of the model's constants
    # of the new graph, as types, constants and int4
    nodes: list[Node] = field(default_factory=list)
    types: dict[str, ArrayType] = field(default_factory=dict)
    constants: Constants = field(default_factory=Constants)
    int4: set[str] = field(default_factory=set)
    # Tensor of stored integers in the old graph -> the same in the new graph, with its scale. uint8
    # values are int8 there.
    inner: dict[str, str] = field(default_factory=dict)
    # Float tensor -> the integers that it was dequantized from.
    meaning: dict[str, str] = field(default_factory=dict)
    # Tensor each of whose elements is a function of one integer -> these integers, of its shape.
    source: dict[str, str] = field(default_factory=dict)
    # Clamped integers of the new graph -> the integers before, and the limits.
    limits: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # float tensor -> why it is not integers
    producers: dict[str, Node] = field(default_factory=dict)
    readers: dict[str, list[Node]] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)  # tensor -> the number of its node
    # tensor of the new graph -> the model's name for it
    names: dict[str, str] = field(default_factory=dict)
    _plain: dict[str, str] = field(default_factory=dict)
    _own: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.types.update(self.graph.types)
        self.constants = Constants(self.graph.constants)
        self.int4.update(self.graph.int4)
        self.producers.update(self.graph.producer_of())
        for i, node in enumerate(self.graph.nodes):
            self.order.update(dict.fromkeys(node.outputs, i))
            for name in dict.fromkeys(node.inputs):
                self.readers.setdefault(name, []).append(node)

    # Adding to the new graph

    def fresh(self, wanted: str) -> str:
        """A name that no tensor has yet."""
        return fresh(wanted, self.types)

    def name_for(self, tensor: str) -> str:
        """The name of the integers that represent a tensor: its own, except for uint8 ports."""
        kind = self.graph.types[tensor]
        is_port = tensor in self.graph.outputs or tensor in self.graph.inputs
        name = self.fresh(f"{tensor}#int8") if is_port and kind.dtype is DType.UINT8 else tensor
        self._own.add(name)
        return name

    def emit(
        self,
        op: str,
        attrs: Attrs,
        inputs: Sequence[str],
        kind: ArrayType,
        name: str,
        origin: Origin,
    ) -> str:
        """The output of a new node, whose name is given. NotInteger if the op cannot compute it."""
        types = [self.types[each] for each in inputs]
        try:
            (shape,) = registry()[op].infer(attrs, types)
        except ValueError as error:
            raise NotInteger(f"has no integer kernel: {error}") from None
        output = dataclasses.replace(kind, shape=shape)
        sentence = registry()[op].check(attrs, types, [output])
        if sentence is not None:
            raise NotInteger(f"has no integer kernel: {sentence}")
        self.types[name] = output
        layer = name.partition("#")[0]  # an operator that was expanded gives its name to its layers
        if origin.layer.startswith(f"{layer}/"):
            origin = Origin(origin.file, layer)
        self.nodes.append(Node(op, tuple(inputs), (name,), attrs, origin))
        return name

    def constant(self, wanted: str, values: Array, quant: Quant | None) -> str:
        """A new constant. An equal constant with the same name is used again."""
        kind = ArrayType(tuple(values.shape), DType(values.dtype.name), quant)
        if self.types.get(wanted) == kind and np.array_equal(
            self.constants.get(wanted, ()), values
        ):
            return wanted
        name = self.fresh(wanted)
        self.types[name], self.constants[name] = kind, frozen(values)
        return name

    def back_to(self, count: int) -> None:
        """Remove all nodes but the first ``count``, and their results."""
        for node in self.nodes[count:]:
            for name in node.outputs:
                # The types of the model were there before the nodes.
                if name not in self.graph.types:
                    del self.types[name]
        del self.nodes[count:]

    def called(self, integers: str, name: str) -> str:
        """Integers that another tensor has, too. They get its name if they represent no tensor of
        the model yet."""
        if integers not in self._own and integers not in self.names and name in self._own:
            self.names[integers] = name
            self.types.pop(name, None)
        return integers

    def keep(self, node: Node) -> None:
        """Add a node unchanged. Integers that it reads are plain numbers to it."""
        inputs = tuple(map(self._readable, node.inputs))
        self.nodes.append(dataclasses.replace(node, inputs=inputs))

    # Integers

    def integers(self, tensor: str) -> str:
        """The integers that a float tensor means. NotInteger if there are none."""
        if tensor in self.meaning:
            return self.meaning[tensor]
        stored = self.stored.get(tensor)
        if stored is None:
            what = "constant" if tensor in self.constants else "input"
            raise NotInteger(f'reads the {what} "{tensor}", which is not quantized')
        if stored.values.dtype == "int32" or not stored.quant.is_per_tensor:
            raise NotInteger(f'reads the constant "{tensor}", which has more than one scale')
        return self.weight(tensor)

    def weight(self, tensor: str) -> str:
        """The integers of a constant that the model stores quantized. NotInteger if the model does
        not store it so.
        """
        stored = self.stored.get(tensor)
        if stored is None:
            raise NotInteger(f'reads the weight "{tensor}", which is not a quantized constant')
        name = self.constant(f"{tensor}#stored", *_symmetric(stored))
        if stored.is_int4:
            self.int4.add(name)
        return name

    def mean(self, tensor: str, integers: str, origin: Origin) -> None:
        """Let a float tensor have the real values of integers."""
        self.meaning[tensor] = self.source[tensor] = integers
        floats = ArrayType((), DType.FLOAT32)
        self.emit("qnn.dequantize", DequantizeAttrs(), (integers,), floats, tensor, origin)

    def retyped(self, integers: str, quant: Quant, name: str, origin: Origin) -> str:
        """A tensor of the same integers with another scale."""
        kind = dataclasses.replace(self.types[integers], quant=quant)
        return self.retyped_as(integers, kind, name, origin)

    def retyped_as(self, integers: str, kind: ArrayType, name: str, origin: Origin) -> str:
        """A tensor of the same integers with the quantization of ``kind``, which may be none."""
        if self.types[integers].quant == kind.quant:
            return integers
        attrs = ReinterpretAttrs(kind.shape)
        return self.emit("qnn.reinterpret", attrs, (integers,), kind, name, origin)

    def made_signed(self, tensor: str, kind: ArrayType, origin: Origin) -> str:
        """The int8 values of a uint8 tensor of the new graph."""
        name = self.fresh(f"{tensor}#int8")
        return self.emit("qnn.requantize", RequantizeAttrs(), (tensor,), kind, name, origin)

    def copied(self, integers: str, name: str, origin: Origin) -> None:
        """Copy integers to a tensor called ``name``."""
        kind = self.types[integers]
        self.emit("reshape", ReshapeAttrs(kind.shape), (integers,), kind, name, origin)

    def _readable(self, tensor: str) -> str:
        """The tensor for nodes that compute with the stored numbers."""
        if tensor not in self.inner:
            return tensor
        if tensor not in self._plain:
            self._plain[tensor] = self._numbers(tensor)
        return self._plain[tensor]

    def _numbers(self, tensor: str) -> str:
        integers, kind = self.inner[tensor], self.graph.types[tensor]
        typed = self.types[integers]
        origin = self._origin(tensor)
        if kind.dtype is DType.UINT8:
            assert typed.quant is not None
            typed = ArrayType(typed.shape, DType.UINT8, moved(typed.quant, HALF))
            attrs, name = RequantizeAttrs(), self.fresh(f"{tensor}#uint8")
            integers = self.emit("qnn.requantize", attrs, (integers,), typed, name, origin)
        return self.retyped_as(integers, kind, self.fresh(f"{tensor}#plain"), origin)

    def _origin(self, tensor: str) -> Origin:
        made = self.producers.get(tensor)
        return made.origin if made else Origin(self.graph.nodes[0].origin.file, tensor)


def signed(kind: ArrayType) -> ArrayType:
    """The type of the integers that represent a quantized tensor."""
    if kind.dtype is not DType.UINT8:
        return kind
    quant = None if kind.quant is None else moved(kind.quant, -HALF)
    return ArrayType(kind.shape, DType.INT8, quant)


def _symmetric(stored: Stored) -> tuple[Array, Quant]:
    """Values and quantization of a constant; several zero points become one, or none."""
    values, quant = stored.values, stored.quant
    if quant.axis is None or not any(quant.zero_point):
        return values, quant
    if len({*quant.scale}) == len({*quant.zero_point}) == 1:
        return values, Quant(quant.scale[:1], quant.zero_point[:1])
    along = [1] * values.ndim
    along[quant.axis] = -1
    centred = values.astype(np.int32) - np.array(quant.zero_point, np.int32).reshape(along)
    limits = np.iinfo(values.dtype)
    if centred.min() < limits.min or centred.max() > limits.max:
        raise NotInteger("has a weight whose values less their zero points exceed int8")
    return centred.astype(values.dtype), Quant(quant.scale, (0,) * len(quant.scale), quant.axis)
