"""Quantized uint8 tensors, which are int8 tensors inside the graph.

A stored value and the zero point that are both less by 128 mean the same number. So operators see
int8, and only inputs and outputs of the graph are uint8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import numpy as np

from microgen.errors import UnsupportedError, short
from microgen.frontends.tensors import GraphBuilder, Tensor
from microgen.frontends.tflite.records import ABSENT, OperatorRecord, TensorRecord
from microgen.ir.graph import Array, DType, Node, Origin, Quant, TensorType, frozen
from microgen.ops import budget
from microgen.ops.requantize import PAIRS, RequantizeAttrs

DETECTION = "CUSTOM:TFLite_Detection_PostProcess"
# Operators whose results LiteRT computes in uint8 exactly as their importers do in int8. It has
# other arithmetic for uint8 in L2_NORMALIZATION, and no uint8 in others.
EXACT = frozenset(
    {
        *("ADD", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND"),
        *("BROADCAST_TO", "CAST", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D"),
        *("DEPTH_TO_SPACE", "DEQUANTIZE", "DIV", "EQUAL", "EXPAND_DIMS", "FILL"),
        *("FULLY_CONNECTED", "GATHER", "GATHER_ND", "GREATER", "GREATER_EQUAL", "HARD_SWISH"),
        *("LEAKY_RELU", "LESS", "LESS_EQUAL", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM", "MAX_POOL_2D"),
        *("MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NOT_EQUAL", "PACK", "PAD", "PADV2", "PRELU"),
        *("QUANTIZE", "READ_VARIABLE", "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6"),
        *("RELU_N1_TO_1", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2"),
        *("SELECT", "SELECT_V2", "SHAPE", "SLICE", "SOFTMAX", "SPACE_TO_BATCH_ND"),
        *("SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STABLEHLO_COMPOSITE"),
        *(
            "STRIDED_SLICE",
            "SUB",
            "SUM",
            "TANH",
            "TILE",
            "TRANSPOSE",
            "TRANSPOSE_CONV",
            "UNPACK",
            DETECTION,
        ),
    }
)
CONVERSIONS = frozenset(("CAST", "DEQUANTIZE", "QUANTIZE"))
_MIXED = CONVERSIONS | {DETECTION}  # its outputs are float32
_OTHERS = ("float32", "int8", "int16")  # data that LiteRT does not compute with together with uint8
_HALF = 128


def is_signed_inside(record: TensorRecord) -> bool:
    """Whether a tensor is a quantized uint8 tensor. Without a scale, uint8 values are plain
    numbers."""
    found = record.quantization
    return record.dtype == "uint8" and found is not None and found.scale.size > 0


def lacks(operator: OperatorRecord, records: Sequence[TensorRecord], exact: Collection[str]) -> str:
    """What an operator that uses quantized uint8 tensors does that microgen cannot, or "". It can
    compute the operators ``exact``."""
    used = [records[i] for i in (*operator.inputs, *operator.outputs) if i != ABSENT]
    if not any(map(is_signed_inside, used)):
        return ""
    if operator.key not in exact:
        return operator.name
    other = next((record.dtype for record in used if record.dtype in _OTHERS), "")
    if operator.key in _MIXED or not other:
        return ""
    return f"{operator.name} with {other} tensors, too"


def flipped(values: Array) -> Array:
    """uint8 values less 128 as int8, or int8 values plus 128 as uint8."""
    other = np.uint8 if values.dtype == np.int8 else np.int8
    return frozen((values.view(np.uint8) ^ np.uint8(_HALF)).view(other))


def signed(tensor: Tensor, where: str) -> Tensor:
    """The int8 tensor that operators see instead of a quantized uint8 tensor."""
    kind = tensor.type
    assert kind.quant is not None
    if not kind.quant.is_per_tensor:
        raise UnsupportedError(
            f'"{short(tensor.name)}" is uint8 with a scale per channel',
            where=where,
            hint="supported: uint8 with one scale and one zero point",
        )
    quant = _moved(kind.quant, -_HALF)
    value = tensor.value
    if value is not None:
        budget.spend_array(value.nbytes, where)  # many tensors may share one buffer
        value = flipped(value)
    return dataclasses.replace(tensor, type=TensorType(kind.shape, DType.INT8, quant), value=value)


def stored(tensor: Tensor, name: str) -> Tensor:
    """The uint8 tensor that operators see as ``tensor``."""
    kind = tensor.type
    assert kind.quant is not None
    unsigned = TensorType(kind.shape, DType.UINT8, _moved(kind.quant, _HALF))
    return Tensor(name, unsigned, None if tensor.value is None else flipped(tensor.value))


def rescaling(data: TensorType, output: TensorType) -> Array:
    """The value in the output's quantization of each int8 value from -128 on: int8[256].

    Source: TFLite reference/concatenation.h, ConcatenationWithScaling of uint8: in float32, halves
    away from zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.float32(data.scale) * (np.float32(1) / np.float32(output.scale))
        bias = np.float32(-_HALF - data.zero_point) * scale
        exact = np.arange(2 * _HALF, dtype=np.float32) * scale + bias
    exact = np.nan_to_num(exact.astype(np.float64))  # scales whose ratio exceeds float32
    rounded = np.trunc(exact + np.copysign(0.5, exact)) + output.zero_point
    table: Array = np.clip(rounded, -_HALF, _HALF - 1).astype(np.int8)
    return table


def _moved(quant: Quant, by: int) -> Quant:
    return dataclasses.replace(quant, zero_point=tuple(z + by for z in quant.zero_point))


@dataclasses.dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph: the tensor in the file, and the one that operators see."""

    tensor: Tensor
    inner: Tensor
    origin: Origin

    @property
    def is_converted(self) -> bool:
        """Whether the two differ."""
        return self.tensor.name != self.inner.name


def connect(builder: GraphBuilder, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """Add the conversions between uint8 inputs and outputs and the int8 tensors inside. Ops that
    can read or write uint8 themselves do so if nothing needs the int8 tensor."""
    fed = {port.tensor.name: port for port in inputs}
    made = {port.tensor.name: port for port in outputs if port.tensor.name not in fed}
    _connect_outputs(builder, [port for port in made.values() if port.is_converted])
    _connect_inputs(builder, [port for port in fed.values() if port.is_converted])


def _connect_outputs(builder: GraphBuilder, ports: Sequence[Port]) -> None:
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


def _connect_inputs(builder: GraphBuilder, ports: Sequence[Port]) -> None:
    inner = {port.inner.name: port for port in ports}
    for i, node in enumerate(builder.nodes):
        port = inner.get(node.inputs[0]) if len(node.inputs) == 1 else None
        if port is not None and _takes(builder, node):
            builder.nodes[i] = dataclasses.replace(node, inputs=(port.tensor.name,))
    read = {name for node in builder.nodes for name in node.inputs}
    for port in ports:
        _declare(builder, port)
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


def _conversion(data: Tensor, output: Tensor, origin: Origin) -> Node:
    return Node("qnn.requantize", (data.name,), (output.name,), RequantizeAttrs(), origin)


def _declare(builder: GraphBuilder, port: Port) -> None:
    for tensor in (port.tensor, port.inner):
        builder.types.setdefault(tensor.name, tensor.type)
