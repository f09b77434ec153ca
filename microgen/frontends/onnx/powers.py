"""Powers of magnitudes and their roots, which norms consist of."""

from __future__ import annotations

from microgen.frontends.onnx.composing import binary
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs

_MOST_PRODUCTS = 8  # larger powers are computed with exp and log


def magnitude(node: OnnxNode, data: Tensor, p: float) -> Tensor:
    """|data| ** p, for p from 1 on."""
    if p == 2:
        return binary(node, "multiply", data, data)
    found = node.emit("abs", AbsAttrs(), (data,))
    if p != int(p) or p > _MOST_PRODUCTS:
        return power(node, found, p)
    base = found
    for _ in range(int(p) - 1):
        found = binary(node, "multiply", found, base)
    return found


def root(node: OnnxNode, data: Tensor, p: float) -> Tensor:
    """Data ** (1 / p), for data that is not negative."""
    if p == 1:
        return data
    if p == 2:
        return node.emit("sqrt", SqrtAttrs(), (data,))
    return power(node, data, 1 / p)


def power(node: OnnxNode, data: Tensor, exponent: float) -> Tensor:
    """Data ** exponent, for data that is not negative: exp(exponent * log(data))."""
    logarithm = node.emit("log", LogAttrs(), (data,))
    return node.emit("exp", ExpAttrs(), (binary(node, "multiply", logarithm, exponent),))
