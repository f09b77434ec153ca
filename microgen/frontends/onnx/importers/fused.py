"""Operators that ONNX Runtime's optimizations write (domain com.microsoft): several operators of
ONNX in one node. Each is replaced by the operators that it was made from.

Source: docs/ContribOperators.md of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import helper

from microgen.frontends.onnx.composing import real
from microgen.frontends.onnx.importers import Importer
from microgen.frontends.onnx.importers.quantization import Group
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value

_OPSET = 20  # of the operators of ONNX that take their place
_RESULT = "result"
_ACTIVATIONS: Mapping[str, Sequence[str]] = {  # -> the attributes that its parameters are
    "HardSigmoid": ("alpha", "beta"),
    "HardSwish": (),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
}
_OF_FUSION = ("activation", "activation_alpha", "activation_beta", "activation_gamma")


def _activated(group: Group, data: str, numbers: Sequence[float]) -> Value:
    """The value of the group: ``data`` after the activation that the node names."""
    node, name = group.node, str(group.node.attr("activation", ""))
    if name == "Clip":
        ends = [group.constant(np.array(v, np.float32), f"end{k}") for k, v in enumerate(numbers)]
        group.add("Clip", (data, *ends[:2]), _RESULT)
    elif not name:
        group.add("Identity", (data,), _RESULT)
    elif name in _ACTIVATIONS:
        parameters: dict[str, Any] = dict(zip(_ACTIVATIONS[name], numbers, strict=False))
        group.add(name, (data,), _RESULT, **parameters)
    else:
        known = ", ".join(sorted((*_ACTIVATIONS, "Clip")))
        raise node.unsupported(f"has the activation {name!r}", supported=known)
    return group.value()


def _inputs(group: Group, positions: Sequence[int]) -> list[str]:
    names = [group.operand_name(i) for i in positions]
    while names and not names[-1]:
        names.pop()
    return names


def _conv(node: OnnxNode) -> Value:
    """A convolution; a further tensor is added before the activation."""
    group = Group(node, opset=_OPSET)
    attributes = node.attributes("activation", "activation_params")
    sums = group.add("Conv", _inputs(group, (0, 1, 2)), "sums", attributes)
    if group.operand_name(3):
        sums = group.add("Add", (sums, "x3"), "added")
    return _activated(group, sums, tuple(map(float, node.attr("activation_params", ()))))


def _gemm(node: OnnxNode) -> Value:
    group = Group(node, opset=_OPSET)
    sums = group.add("Gemm", _inputs(group, (0, 1, 2)), "sums", node.attributes(*_OF_FUSION))
    numbers = [float(node.attr(name)) for name in _OF_FUSION[1:] if node.attr(name, None)]
    return _activated(group, sums, numbers)


def _matmul(node: OnnxNode) -> Value:
    """Alpha * A * B. In each operand, the last two axes may be exchanged, and the first axis may
    move before the last one."""
    group, alpha = Group(node, opset=_OPSET), np.float32(node.attr("alpha", 1.0))
    names = []
    for k, side in enumerate("AB"):
        order = list(range(len(node.tensor(k).shape)))
        if node.attr(f"transBatch{side}", 0):
            # The batch axes come after the rows: [rows, ..., columns] is [..., rows, columns].
            order = [*order[1:-1], order[0], order[-1]]
        if node.attr(f"trans{side}", 0) and len(order) > 1:
            order[-2:] = order[:-3:-1]
        names.append(group.add("Transpose", (f"x{k}",), f"t{k}", perm=order))
    product = group.add("MatMul", names, _RESULT if alpha == 1 else "product")
    if alpha != 1:
        group.add("Mul", (product, group.constant(np.asarray(alpha), "alpha")), _RESULT)
    return group.value()


def _gelu(approximate: str) -> Importer:
    """Gelu of the data, to which a bias may be added."""

    def importer(node: OnnxNode) -> Value:
        group = Group(node, opset=_OPSET)
        data = group.add("Add", ("x0", "x1"), "added") if group.operand_name(1) else "x0"
        group.add("Gelu", (data,), _RESULT, approximate=approximate)
        return group.value()

    return importer


def _quick_gelu(node: OnnxNode) -> BuiltTensor:
    return real(node, "swish", node.tensor(0), float(node.attr("alpha", 1.702)))


def _skip_normalization(scaled: str) -> Importer:
    """The sum of data, skip and bias, normalized over the last axis."""
    # SkipLayerNormalization has a further operand, beta, after gamma.
    has_beta = scaled == "LayerNormalization"

    def importer(node: OnnxNode) -> Value:
        if any(node.outputs[1:3]):
            raise node.unsupported("has the outputs of training", supported="the first and sum")
        group, bias = Group(node, opset=23), 4 if has_beta else 3
        total = group.add("Add", ("x0", "x1"), "skipped")
        if group.operand_name(bias):
            total = group.add("Add", (total, f"x{bias}"), "biased")
        inputs = [total, *_inputs(group, (2, 3) if has_beta else (2,))]
        epsilon = float(node.attr("epsilon", 1e-12))
        group.add(scaled, inputs, _RESULT, axis=-1, epsilon=epsilon)
        return group.value(*(("", "", total) if any(node.outputs[3:]) else ()))

    return importer


def _channels_last(op: str, data: int, *, quantized: bool = False) -> Importer:
    """An operator of ONNX whose data has its channels last."""

    def importer(node: OnnxNode) -> Value:
        rank = len(node.tensor(data).shape)
        first, last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
        group = Group(node, opset=13 if quantized else _OPSET)
        inputs = [group.operand_name(i) for i in range(len(node.operands))]
        is_last = not quantized or bool(node.attr("channels_last", 0))
        if is_last:
            inputs[data] = group.add("Transpose", (inputs[data],), "channels_second", perm=first)
        found = group.add(op, inputs, "found", node.attributes("channels_last"))
        group.add("Transpose", (found,), _RESULT, perm=last if is_last else tuple(range(rank)))
        return group.value()

    return importer


def _dynamic_matmul(node: OnnxNode) -> Value:
    """The data is quantized by its own range, then multiplied in integers."""
    group = Group(node, opset=_OPSET)
    outputs = ["stored", "scale", "zero"]
    group.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x0"], outputs))
    integers = ["stored", "x1", "zero", group.operand_name(3)]
    return _floats_of(group, integers, ("scale", "x2"), 4)


def _matmul_to_float(node: OnnxNode) -> Value:
    group = Group(node, opset=_OPSET)
    integers = ["x0", "x1", group.operand_name(4), group.operand_name(5)]
    return _floats_of(group, integers, ("x2", "x3"), 6)


def _floats_of(group: Group, integers: Sequence[str], scales: tuple[str, str], bias: int) -> Value:
    """The floats that a product of integers means, and a bias."""
    names = list(integers)
    while not names[-1]:
        names.pop()
    sums = group.add("Cast", (group.add("MatMulInteger", names, "sums"),), "floats", to=1)
    floats = group.add("Mul", (sums, group.add("Mul", scales, "scales")), "scaled")
    return _biased(group, floats, bias)


def _biased(group: Group, sums: str, bias: int) -> Value:
    if group.operand_name(bias):
        group.add("Add", (sums, f"x{bias}"), _RESULT)
    else:
        group.add("Identity", (sums,), _RESULT)
    return group.value()


_OWN: Mapping[str, Any] = {
    "BiasGelu": _gelu("none"),
    "DynamicQuantizeMatMul": _dynamic_matmul,
    "FastGelu": _gelu("tanh"),
    "FusedConv": _conv,
    "FusedGemm": _gemm,
    "FusedMatMul": _matmul,
    "Gelu": _gelu("none"),
    "MatMulIntegerToFloat": _matmul_to_float,
    "NhwcMaxPool": _channels_last("MaxPool", 0),
    "QLinearConv": _channels_last("QLinearConv", 0, quantized=True),
    "QuickGelu": _quick_gelu,
    "SkipLayerNormalization": _skip_normalization("LayerNormalization"),
    "SkipSimplifiedLayerNormalization": _skip_normalization("RMSNormalization"),
    "TransposeMatMul": _matmul,
}
IMPORTERS = {f"com.microsoft.{name}": importer for name, importer in _OWN.items()}
