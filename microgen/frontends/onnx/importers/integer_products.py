"""ConvInteger and MatMulInteger: exact sums of products as int32 numbers."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto

from microgen.frontends.onnx.importers import Importer
from microgen.frontends.onnx.importers.quantized_operators import Group
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor, Value
from microgen.graph.ir.graph import Array, DType

_EXACT = 2**24  # floats have all whole numbers up to it
_LARGEST = 255 * 255  # magnitude of a product
_INT32 = TensorProto.INT32


def _products(op: str, lhs_axis: int, rhs_axis: int) -> Importer:
    """The importer of the operator of floats ``op`` for integers. Several zero points are along
    these axes."""

    def importer(node: OnnxNode) -> Value:
        for position in (0, 1):
            node.expect(node.tensor(position), DType.INT8, DType.UINT8)
        group, zero = Group(node), node.optional(2)
        _check_exact(node, _count(node.tensor(1), op), zero)
        is_computed = zero is not None and zero.value is None
        middle = (
            group.constant(_middle(node.tensor(0)), "middle") if is_computed else group.given(2)
        )
        operands = (
            _floats(group, "x0", middle, lhs_axis),
            _floats(group, "x1", group.given(3), rhs_axis),
        )
        floats = group.add(op, operands, "floats", node.attributes())
        sums = group.add("Cast", (floats,), "sums" if is_computed else "result", to=_INT32)
        if is_computed:
            _subtract_zero(group, op, (sums, operands[1]), middle)
        return group.value()

    return importer


def _count(weight: Tensor, op: str) -> int:
    """The number of products in a sum."""
    return math.prod(weight.shape[1:]) if op == "Conv" else weight.shape[-2:][0]


def _check_exact(node: OnnxNode, count: int, zero: Tensor | None) -> None:
    """Sums of constant weights are computed in integers; others must be exact in floats."""
    weight, zeros = node.tensor(1), node.optional(3)
    is_simple = weight.value is not None and (zeros is None or zeros.value is not None)
    is_simple = is_simple and (zero is None or zero.type.size == 1)
    if not is_simple and count * _LARGEST > _EXACT:
        raise node.unsupported(
            f"adds {count} products of computed integers",
            supported=f"up to {_EXACT // _LARGEST}, or constant weights and one zero point of data",
        )


def _middle(data: Tensor) -> Array:
    """A zero point for data whose own one is computed."""
    return np.array(128 if data.dtype is DType.UINT8 else 0, data.dtype.numpy)


def _floats(group: Group, data: str, zero: str, axis: int) -> str:
    """Integers less their zero points, as floats."""
    zeros = group.node.optional(int(zero[1:])) if zero.startswith("x") else None
    ones = np.ones(() if zeros is None else zeros.shape, np.float32)
    scale = group.constant(ones, f"scale_{data}")
    return group.add("DequantizeLinear", (data, scale, zero), f"float_{data}", axis=axis)


def _subtract_zero(group: Group, op: str, sums: tuple[str, str], middle: str) -> None:
    """The sums, which have ``middle`` as the data's zero point, with the computed one. Each product
    has to be less by the difference times its weight."""
    node = group.node
    ones = group.constant(np.ones(node.tensor(0).shape, np.float32), "ones")
    weights = group.add(op, (ones, sums[1]), "weights", node.attributes())
    total = group.add("Cast", (weights,), "total", to=_INT32)
    lhs, rhs = (
        group.add("Cast", (each,), f"{each}_int32", to=_INT32) for each in (group.given(2), middle)
    )
    more = group.add("Mul", (group.add("Sub", (lhs, rhs), "difference"), total), "more")
    group.add("Sub", (sums[0], more), "result")


IMPORTERS = {
    "ConvInteger": _products("Conv", 0, 0),
    "MatMulInteger": _products("MatMul", -2, -1),
}
