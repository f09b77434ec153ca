"""Nodes from which importers compose operators: arithmetic, comparisons and functions as ONNX
defines them, powers and roots, products of matrices, and sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from microgen.frontends.onnx.move_nodes import cut, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.dense.batch_matmul import MAX_RANK, BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs, WhereAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs
from microgen.graph.ops.reductions.running import CumprodAttrs, CumsumAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs
from microgen.graph.ops.unary.real_function import RealFunctionAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs

NUMBERS = (DType.FLOAT32, *INTEGERS)
_ARITHMETIC: dict[str, Callable[[Activation], Attrs]] = {
    "add": AddAttrs,
    # Wrapping shifts are an error of TFLite's int8 quotients, which ONNX does not have.
    "divide": lambda activation: DivideAttrs(activation, shifts_wrap=False),
    "multiply": MultiplyAttrs,
    "subtract": SubtractAttrs,
}
_EXTREMA = {"maximum": MaximumAttrs, "minimum": MinimumAttrs}


def is_float(tensor: BuiltTensor) -> bool:
    """Whether the tensor is of float32."""
    return tensor.dtype is DType.FLOAT32


def number(node: OnnxNode, value: float, dtype: DType) -> BuiltTensor:
    """A constant without axes, which broadcasts to any tensor."""
    return node.constant(np.array(value, dtype.numpy), "number")


def _operand(node: OnnxNode, value: BuiltTensor | float, dtype: DType) -> BuiltTensor:
    return value if isinstance(value, BuiltTensor) else number(node, value, dtype)


def binary(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor | float) -> BuiltTensor:
    """add, divide, multiply or subtract. Floats may become infinite, and integers wrap. A number
    becomes a constant of the left dtype."""
    attrs = _ARITHMETIC[op](Activation.UNLIMITED if is_float(lhs) else Activation.NONE)
    return node.emit(op, attrs, (lhs, _operand(node, rhs, lhs.dtype)))


def extremum(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor | float) -> BuiltTensor:
    """The maximum or minimum of each pair of elements; NaN if one is NaN."""
    attrs = _EXTREMA[op](keeps_nan=is_float(lhs))
    return node.emit(op, attrs, (lhs, _operand(node, rhs, lhs.dtype)))


def compared(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor | float) -> BuiltTensor:
    """The result of a comparison, as a bool tensor."""
    operands = (lhs, _operand(node, rhs, lhs.dtype))
    return node.emit(op, ComparisonAttrs(), operands, dtype=DType.BOOL, quant=None)


def chosen(
    node: OnnxNode, condition: BuiltTensor, lhs: BuiltTensor, rhs: BuiltTensor
) -> BuiltTensor:
    """The left element where the condition is true, and the right one elsewhere."""
    inputs = (condition, lhs, rhs)
    return node.emit("where", WhereAttrs(), inputs, dtype=lhs.dtype, quant=lhs.type.quant)


def cast(node: OnnxNode, data: BuiltTensor, dtype: DType) -> BuiltTensor:
    """The tensor's numbers in another dtype."""
    if data.dtype is dtype:
        return data
    return node.emit("cast", CastAttrs(), (data,), dtype=dtype, quant=None)


def real(node: OnnxNode, function: str, data: BuiltTensor, *numbers: float) -> BuiltTensor:
    """A function of each float32 value; the numbers are rounded to float32."""
    node.expect(data, DType.FLOAT32)
    rounded = (float(np.float32(each)) for each in numbers)
    return node.emit("real_function", RealFunctionAttrs(function, *rounded), (data,))


# Powers of magnitudes and their roots, which norms consist of.

_MOST_PRODUCTS = 8  # larger powers are computed with exp and log


def magnitude(node: OnnxNode, data: BuiltTensor, p: float) -> BuiltTensor:
    """|data| ** p, for p from 1 on."""
    if p == 2:
        return binary(node, "multiply", data, data)
    result = node.emit("abs", AbsAttrs(), (data,))
    if p != int(p) or p > _MOST_PRODUCTS:
        return power(node, result, p)
    # Each product rounds once, which is a smaller error than the error of exp and log.
    base = result
    for _ in range(int(p) - 1):
        result = binary(node, "multiply", result, base)
    return result


def root(node: OnnxNode, data: BuiltTensor, p: float) -> BuiltTensor:
    """Data ** (1 / p), for data that is not negative."""
    if p == 1:
        return data
    if p == 2:
        return node.emit("sqrt", SqrtAttrs(), (data,))
    return power(node, data, 1 / p)


def power(node: OnnxNode, data: BuiltTensor, exponent: float) -> BuiltTensor:
    """Data ** exponent, for data that is not negative: exp(exponent * log(data))."""
    logarithm = node.emit("log", LogAttrs(), (data,))
    return node.emit("exp", ExpAttrs(), (binary(node, "multiply", logarithm, exponent),))


# Products of matrices with leading dimensions that broadcast.


def matrix_product(node: OnnxNode, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """Lhs [..., rows, depth] times rhs [..., depth, columns], of float32 or integers."""
    if lhs.shape[-1] != rhs.shape[-2]:
        raise node.invalid(f"multiplies {lhs.type} by {rhs.type}: the depths differ")
    if lhs.dtype is not DType.FLOAT32:
        return _of_integers(node, lhs, rhs)
    if math.prod(rhs.shape[:-2]) == 1 and len(rhs.shape) <= len(lhs.shape):
        return _by_one_matrix(node, lhs, node.reshaped(rhs, rhs.shape[-2:]))
    return _by_matrices(node, lhs, rhs)


def _by_one_matrix(node: OnnxNode, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """A dense layer if the matrix is constant, otherwise a product of two matrices."""
    if rhs.is_constant:
        attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=True)
        return node.emit("nn.dense", attrs, (lhs, transposed(node, rhs, (1, 0))))
    # All leading dimensions are rows of one matrix.
    rows = node.reshaped(lhs, (math.prod(lhs.shape[:-1]), lhs.shape[-1]))
    product = node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), (rows, rhs))
    return node.reshaped(product, (*lhs.shape[:-1], rhs.shape[-1]))


def _by_matrices(node: OnnxNode, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    batches = lhs.shape[:-2]
    if batches == rhs.shape[:-2]:
        flat = [node.reshaped(t, (math.prod(batches), *t.shape[-2:])) for t in (lhs, rhs)]
        product = node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), flat)
        return node.reshaped(product, (*batches, *product.shape[1:]))
    if max(len(lhs.shape), len(rhs.shape)) > MAX_RANK:
        raise node.unsupported(
            f"multiplies {lhs.type} by {rhs.type}, whose leading dimensions broadcast",
            supported=f"up to {MAX_RANK} dimensions",
        )
    return node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), (lhs, rhs))


def _of_integers(node: OnnxNode, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """All products [..., rows, columns, depth], summed."""
    rank = len(rhs.shape)
    turned = transposed(node, rhs, (*range(rank - 2), rank - 1, rank - 2))
    rows = node.reshaped(lhs, (*lhs.shape[:-1], 1, lhs.shape[-1]))
    columns = node.reshaped(turned, (*turned.shape[:-2], 1, *turned.shape[-2:]))
    # The ops of matrices have no plain integers, whose sums wrap.
    products = binary(node, "multiply", rows, columns)
    last = len(products.shape) - 1
    return total(node, products, (last,), False)


# Sums and products over any axes, of floats and integers.

Axes = tuple[int, ...]


def total(node: OnnxNode, data: BuiltTensor, axes: Axes, keep_dims: bool) -> BuiltTensor:
    """The sum over some axes, of float32, int32 or int64."""
    if not axes:
        return data
    # The sum op has no int64, but running sums have; the last one is the total.
    if data.dtype is not DType.INT64:
        return node.emit("sum", SumAttrs(axes, keep_dims), (data,))
    return _last(node, data, axes, "cumsum", keep_dims)


def product(node: OnnxNode, data: BuiltTensor, axes: Axes, keep_dims: bool) -> BuiltTensor:
    """The product over some axes, of float32, int32 or int64."""
    return _last(node, data, axes, "cumprod", keep_dims) if axes else data


def kept(shape: Sequence[int], axes: Axes, keep_dims: bool) -> tuple[int, ...]:
    """The shape without some axes, or with 1 in their place."""
    return tuple(
        1 if axis in axes else size
        for axis, size in enumerate(shape)
        if keep_dims or axis not in axes
    )


def _last(node: OnnxNode, data: BuiltTensor, axes: Axes, op: str, keep_dims: bool) -> BuiltTensor:
    """The last running sum or product of the values over the axes."""
    shape = kept(data.shape, axes, keep_dims)
    others = [axis for axis in range(len(data.shape)) if axis not in axes]
    moved = transposed(node, data, (*others, *axes))
    rows = node.reshaped(moved, (math.prod(shape), data.type.size // math.prod(shape)))
    attrs: Attrs = CumsumAttrs(1) if op == "cumsum" else CumprodAttrs(1)
    running = node.emit(op, attrs, (rows,))
    return node.reshaped(cut(node, running, 1, running.shape[1] - 1, 1), shape)
