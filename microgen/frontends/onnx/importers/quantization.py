"""Quantization, and operators of quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper

from microgen.frontends.onnx import qdq_nodes, types
from microgen.frontends.onnx.functions import FunctionBody
from microgen.frontends.onnx.importers import Importer
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Array, DType


def _dequantize(node: OnnxNode) -> BuiltTensor:
    # The scale that an earlier operator has given the data matters here, unlike elsewhere.
    data = node.typed(0) or node.tensor(0)
    node.expect(data, *qdq_nodes.ACCEPTED)
    _check_output(node)
    zero = node.optional(2) if data.dtype is DType.INT32 else None
    # ONNX's definition has none for int32. ONNX Runtime subtracts it modulo 2**32.
    if zero is not None and zero.value is not None and zero.value.any():
        raise node.invalid("has a zero point of int32 data; 0 is expected")
    scales = qdq_nodes.read(node, data, 1, 2)
    if scales is not None:
        return qdq_nodes.dequantized(node, data, scales)
    return qdq_nodes.scaled(node, data, *_computed(node, data))


def _quantize(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, DType.FLOAT32, DType.INT32)
    dtype = _stored_dtype(node)
    scales = qdq_nodes.read(node, data, 1, 2)
    if scales is not None:
        return qdq_nodes.quantized(node, data, scales, dtype)
    return qdq_nodes.divided(node, data, *_computed(node, data), dtype)


def _computed(node: OnnxNode, data: BuiltTensor) -> tuple[BuiltTensor, BuiltTensor]:
    scale = qdq_nodes.broadcast(node, data, 1)
    assert scale is not None, "checked: the operator needs it"
    zero = qdq_nodes.broadcast(node, data, 2)
    return scale, node.constant(np.zeros((), np.float32), "zero") if zero is None else zero


def _stored_dtype(node: OnnxNode) -> DType:
    """The dtype of the result: the dtype of the zero point or of the attribute."""
    declared = int(node.attr("output_dtype", 0))
    zero = node.optional(2)
    if types.is_int4(declared) or (zero is not None and zero.is_int4):
        raise node.unsupported("makes integers of 4 bits", supported="constants of 4 bits")
    if zero is not None:
        stored = zero.dtype
    else:
        stored = types.dtype(declared, "the result", node.where) if declared else DType.UINT8
    if stored not in qdq_nodes.NARROW:
        names = ", ".join(dtype.value for dtype in qdq_nodes.NARROW)
        raise node.unsupported(f"makes {stored.value}", supported=names)
    return stored


def _check_output(node: OnnxNode) -> None:
    declared = int(node.attr("output_dtype", 0))
    scale = types.dtype(declared, "the result", node.where) if declared else node.tensor(1).dtype
    if scale is not DType.FLOAT32:
        raise node.unsupported(f"makes {scale.value}", supported="float32")


_OWN = {"DequantizeLinear": _dequantize, "QuantizeLinear": _quantize}
# ONNX Runtime's quantizer writes operators of its own for 16 and 4 bits, which older opsets lack.


# Operators of quantized tensors: DequantizeLinear, the operator of floats, and QuantizeLinear. The
# recognised operators between the two become integers (``graph/qdq``), so these operators and the
# groups of three are computed in the same way.

_OPSET = 13  # the semantics of the operators in the functions
_OUTPUT = "result"


@dataclass(slots=True)
class Group:
    """The function that takes the place of a quantized operator. Its inputs ``x0``, ``x1`` and so
    on are the operator's inputs.
    """

    node: OnnxNode
    nodes: list[NodeProto] = field(default_factory=list)
    opset: int = _OPSET

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        output: str,
        attributes: Sequence[AttributeProto] = (),
        **attrs: Any,
    ) -> str:
        """The output of a new node."""
        made = helper.make_node(op, list(inputs), [output], **attrs)
        made.attribute.extend(attributes)
        self.nodes.append(made)
        return output

    def constant(self, value: Array, output: str) -> str:
        """A constant."""
        return self.add("Constant", (), output, value=numpy_helper.from_array(value))

    def operand_name(self, position: int) -> str:
        """The name of an operand; empty if it is left out."""
        return "" if self.node.typed(position) is None else f"x{position}"

    def dequantized(self, data: int, *, axis: int = 0) -> str:
        """An operand that is followed by its scale and zero point, as floats. Several scales are
        along ``axis``."""
        inputs = [f"x{data}", f"x{data + 1}", self.operand_name(data + 2)]
        return self.add("DequantizeLinear", inputs, f"float{data}", axis=axis)

    def quantized(self, floats: str, scale: int, like: int = 0) -> Value:
        """The result: floats as integers, with the scale at position ``scale`` and the zero point
        after it. If the zero point is left out, it is 0, of the dtype of the operand ``like``.
        """
        zero = self.operand_name(scale + 1)
        if not zero:
            zero = self.constant(np.zeros((), self.node.tensor(like).dtype.numpy), "zero")
        self.add("QuantizeLinear", (floats, f"x{scale}", zero), _OUTPUT)
        return self.value()

    def value(self, *further: str) -> Value:
        """The result of the node called ``result``, and further outputs; "" stands for an output
        that the nodes do not compute."""
        inputs, outputs = [f"x{i}" for i in range(len(self.node.operands))], [_OUTPUT, *further]
        return self.node.called(FunctionBody(inputs, outputs, self.nodes, {"": self.opset}))


def _conv(node: OnnxNode) -> Value:
    group = Group(node)
    inputs = [group.dequantized(0), group.dequantized(3, axis=0)]
    if group.operand_name(8):
        inputs.append(_bias(group, 8, ("x1", "x4")))
    return group.quantized(group.add("Conv", inputs, "sums", node.attributes()), 6)


def _bias(group: Group, position: int, scales: tuple[str, str]) -> str:
    """An int32 bias in the scale of the sums."""
    scale = group.add("Mul", scales, "scale")
    return group.add("DequantizeLinear", (f"x{position}", scale), f"float{position}", axis=-1)


def _matmul(node: OnnxNode) -> Value:
    group = Group(node)
    # Several scales are along the rows of A and the columns of B.
    inputs = [group.dequantized(0, axis=-2), group.dequantized(3, axis=-1)]
    return group.quantized(group.add("MatMul", inputs, "sums"), 6)


def _gemm(node: OnnxNode) -> Value:
    """QGemm; the bias has the scale alpha * a_scale * b_scale."""
    group, alpha = Group(node), np.float32(node.attr("alpha", 1.0))
    scale = group.add("Mul", ("x4", group.constant(np.asarray(alpha), "alpha")), "b_scale")
    # Several scales are along the columns of B, which are its first axis if it is transposed.
    axis = 0 if node.attr("transB", 0) else 1
    rhs = group.add("DequantizeLinear", ("x3", scale, group.operand_name(5)), "rhs", axis=axis)
    inputs = [group.dequantized(0), rhs]
    if group.operand_name(6):
        inputs.append(_bias(group, 6, ("x1", scale)))
    # Without a scale of the result, QGemm returns floats.
    floats = bool(group.operand_name(7))
    sums = group.add("Gemm", inputs, "sums" if floats else _OUTPUT, node.attributes("alpha"))
    return group.quantized(sums, 7) if floats else group.value()


def _binary(op: str) -> Importer:
    def importer(node: OnnxNode) -> Value:
        group = Group(node)
        inputs = group.dequantized(0), group.dequantized(3)
        return group.quantized(group.add(op, inputs, "found"), 6)

    return importer


def _unary(op: str) -> Importer:
    def importer(node: OnnxNode) -> Value:
        group, attributes = Group(node), node.attributes("channels_last")
        rank = len(node.tensor(0).shape)
        is_last = bool(node.attr("channels_last", 0)) and rank > 2
        data = group.dequantized(0)
        if is_last:
            data = group.add(
                "Transpose", (data,), "second", perm=[0, rank - 1, *range(1, rank - 1)]
            )
        floats = group.add(op, (data,), "found", attributes)
        if is_last:
            floats = group.add("Transpose", (floats,), "last", perm=[0, *range(2, rank), 1])
        return group.quantized(floats, 3)

    return importer


def _softmax(node: OnnxNode) -> Value:
    """QLinearSoftmax; an attribute names the opset whose Softmax it computes."""
    group = Group(node, opset=11 if node.attr("opset") < 13 else _OPSET)
    floats = group.add("Softmax", (group.dequantized(0),), "found", node.attributes("opset"))
    return group.quantized(floats, 3)


def _concat(node: OnnxNode) -> Value:
    group = Group(node)
    # The result's scale and zero point come first, then three operands for each part.
    inputs = [group.dequantized(i) for i in range(2, len(node.operands), 3)]
    joined = group.add("Concat", inputs, "found", node.attributes())
    return group.quantized(joined, 0, like=2)


_QUANTIZED_MOST = 255.0


def _dynamic(node: OnnxNode) -> Value:
    """uint8 integers whose scale and zero point follow from the range of the data, together with 0.

    Data of zeros has the scale 1, as in ONNX Runtime; ONNX's formula divides by its scale of 0.
    """
    group = Group(node, opset=18)  # reductions have no axes there
    zero, one, most = (
        group.constant(np.array(v, np.float32), name)
        for v, name in ((0.0, "none"), (1.0, "one"), (_QUANTIZED_MOST, "most"))
    )
    low, high = (
        group.add(op, (group.add(f"Reduce{op}", ("x0",), f"found{op}", keepdims=0), zero), name)
        for op, name in (("Min", "low"), ("Max", "high"))
    )
    steps = group.add("Div", (group.add("Sub", (high, low), "range"), most), "steps")
    is_zero = group.add("Equal", (steps, zero), "is_zero")
    scale = group.add("Where", (is_zero, one, steps), "scale")
    middle = group.add("Sub", (zero, group.add("Div", (low, scale), "below")), "middle")
    whole = group.add("Round", (group.add("Clip", (middle, zero, most), "within"),), "whole")
    stored = group.add("Cast", (whole,), "zero", to=int(TensorProto.UINT8))
    group.add("QuantizeLinear", ("x0", scale, stored), _OUTPUT)
    return group.value(scale, stored)


IMPORTERS: dict[str, Importer] = {
    **_OWN,
    "DynamicQuantizeLinear": _dynamic,
    **{f"com.microsoft.{name}": importer for name, importer in _OWN.items()},
    "QLinearConv": _conv,
    "QLinearMatMul": _matmul,
    "com.microsoft.QGemm": _gemm,
    "com.microsoft.QLinearAdd": _binary("Add"),
    "com.microsoft.QLinearAveragePool": _unary("AveragePool"),
    "com.microsoft.QLinearConcat": _concat,
    "com.microsoft.QLinearGlobalAveragePool": _unary("GlobalAveragePool"),
    "com.microsoft.QLinearLeakyRelu": _unary("LeakyRelu"),
    "com.microsoft.QLinearMul": _binary("Mul"),
    "com.microsoft.QLinearSigmoid": _unary("Sigmoid"),
    "com.microsoft.QLinearSoftmax": _softmax,
}
