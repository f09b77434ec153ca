"""Elementwise operators of two tensors."""

from __future__ import annotations

from microgen.arithmetic.terms import Activation
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.ir.graph import Attrs, DType
from microgen.ops.add import AddAttrs
from microgen.ops.multiply import MultiplyAttrs
from microgen.ops.subtract import SubtractAttrs


def _binary(op: str, attrs: Attrs):  # type: ignore[no-untyped-def]
    def importer(node: OnnxNode) -> Tensor:
        lhs, rhs = node.tensor(0), node.tensor(1)
        node.expect(lhs, DType.FLOAT32, DType.INT32, DType.INT64)
        return node.emit(op, attrs, (lhs, rhs))

    return importer


IMPORTERS = {
    "Add": _binary("add", AddAttrs(Activation.NONE)),
    "Sub": _binary("subtract", SubtractAttrs(Activation.NONE)),
    "Mul": _binary("multiply", MultiplyAttrs(Activation.NONE)),
}
