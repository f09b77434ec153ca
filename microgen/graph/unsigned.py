"""Quantized uint8 tensors, which are int8 tensors inside the graph.

If the stored value and the zero point are both reduced by 128, they mean the same number. So all
operators can compute with int8, and only inputs and outputs of the graph are uint8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from microgen.base.errors import UnsupportedError, short
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import Array, ArrayType, DType, Node, Origin, Quant, frozen
from microgen.graph.ops import budget
from microgen.graph.ops.quantization.rescale import PAIRS, RequantizeAttrs

HALF = 128


def flipped(values: Array) -> Array:
    """uint8 values minus 128 as int8, or int8 values plus 128 as uint8."""
    # Adding or subtracting 128, modulo 256, inverts the highest bit.
    other = np.uint8 if values.dtype == np.int8 else np.int8
    return frozen((values.view(np.uint8) ^ np.uint8(HALF)).view(other))


def signed(tensor: BuiltTensor, where: str) -> BuiltTensor:
    """The int8 tensor that operators see instead of a quantized uint8 tensor."""
    kind = tensor.type
    assert kind.quant is not None
    if not kind.quant.is_per_tensor:
        raise UnsupportedError(
            f'"{short(tensor.name)}" is uint8 with a scale per channel',
            where=where,
            hint="supported: uint8 with one scale and one zero point",
        )
    quant = moved(kind.quant, -HALF)
    value = tensor.value
    if value is not None:
        budget.spend_array(value.nbytes, where)  # many tensors may share one buffer
        value = flipped(value)
    return dataclasses.replace(tensor, type=ArrayType(kind.shape, DType.INT8, quant), given=value)


def stored(tensor: BuiltTensor, name: str) -> BuiltTensor:
    """The uint8 tensor that operators see as ``tensor``."""
    kind = tensor.type
    assert kind.quant is not None
    unsigned = ArrayType(kind.shape, DType.UINT8, moved(kind.quant, HALF))
    return BuiltTensor(name, unsigned, None if tensor.value is None else flipped(tensor.value))


def moved(quant: Quant, by: int) -> Quant:
    """The quantization after ``by`` is added to all stored values."""
    return dataclasses.replace(quant, zero_point=tuple(z + by for z in quant.zero_point))


@dataclasses.dataclass(frozen=True, slots=True)
class UnsignedPort:
    """An input or output of the graph: the tensor in the file, and the tensor that operators
    see."""

    tensor: BuiltTensor
    inner: BuiltTensor
    origin: Origin

    @property
    def is_converted(self) -> bool:
        """Whether the two tensors differ."""
        return self.tensor.name != self.inner.name


def connect(
    builder: GraphBuilder, inputs: Sequence[UnsignedPort], outputs: Sequence[UnsignedPort]
) -> None:
    """Add the conversions between uint8 inputs and outputs and the int8 tensors inside. Ops that
    can read or write uint8 themselves do so if nothing needs the int8 tensor."""
    fed = {port.tensor.name: port for port in inputs}
    # An input that is an output, too, is not made here.
    made = {port.tensor.name: port for port in outputs if port.tensor.name not in fed}
    _connect_outputs(builder, [port for port in made.values() if port.is_converted])
    _connect_inputs(builder, [port for port in fed.values() if port.is_converted])


def _connect_outputs(builder: GraphBuilder, ports: Sequence[UnsignedPort]) -> None:
    read = {name for node in builder.nodes for name in node.inputs}
    producer = {node.outputs: i for i, node in enumerate(builder.nodes)}
    for port in (port for port in ports if port.inner.value is None):
        _declare(builder, port)
        i = producer.get((port.inner.name,))
        if i is not None and port.inner.name not in read and _gives(builder, builder.nodes[i]):
            node = dataclasses.replace(builder.nodes[i], outputs=(port.tensor.name,))
            builder.nodes[i] = node
        else:
            builder.nodes.append(_conversion(port.inner, port.tensor, port.origin))


def _connect_inputs(builder: GraphBuilder, ports: Sequence[UnsignedPort]) -> None:
    inner = {port.inner.name: port for port in ports}
    for i, node in enumerate(builder.nodes):
        port = inner.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if port is not None and _takes(builder, node):
            builder.nodes[i] = dataclasses.replace(node, inputs=(port.tensor.name,))
    read = {name for node in builder.nodes for name in node.inputs}
    for port in ports:
        _declare(builder, port)
    # At the beginning, because any node may read them.
    builder.nodes[:0] = [
        _conversion(port.tensor, port.inner, port.origin)
        for port in ports
        if port.inner.name in read
    ]


def _takes(builder: GraphBuilder, node: Node) -> bool:
    """Whether the op can read uint8."""
    is_pair = builder.types[node.outputs[0]].dtype in PAIRS[DType.UINT8]
    return node.op == "qnn.dequantize" or (node.op == "qnn.requantize" and is_pair)


def _gives(builder: GraphBuilder, node: Node) -> bool:
    """Whether the op can write uint8."""
    if node.op == "qnn.quantize":
        return True
    data = builder.types[node.inputs[0]].dtype
    return node.op == "qnn.requantize" and DType.UINT8 in PAIRS[data]


def _conversion(data: BuiltTensor, output: BuiltTensor, origin: Origin) -> Node:
    return Node("qnn.requantize", (data.name,), (output.name,), RequantizeAttrs(), origin)


def _declare(builder: GraphBuilder, port: UnsignedPort) -> None:
    for tensor in (port.tensor, port.inner):
        builder.types.setdefault(tensor.name, tensor.type)
