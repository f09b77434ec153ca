"""Nodes from which importers compose operators: arithmetic of tensors and numbers, parts of
tensors, tensors joined, powers, products of matrices and sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.dense.batch_matmul import MAX_RANK, BatchMatmulAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs
from microgen.graph.ops.reductions.running import CumprodAttrs, CumsumAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs

_BINARY: dict[str, Callable[[Activation], Attrs]] = {
    "add": AddAttrs,
    "divide": lambda activation: DivideAttrs(activation, shifts_wrap=False),
    "multiply": MultiplyAttrs,
    "subtract": SubtractAttrs,
}


def binary(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor | float) -> BuiltTensor:
    """add, divide, multiply or subtract; a number becomes a constant of the left dtype."""
    is_float = lhs.dtype is DType.FLOAT32
    attrs = _BINARY[op](Activation.UNLIMITED if is_float else Activation.NONE)
    return node.emit(op, attrs, (lhs, as_tensor(node, rhs, lhs.dtype)))


def as_tensor(node: OnnxNode, value: BuiltTensor | float, dtype: DType) -> BuiltTensor:
    """The tensor, or a number as a constant without axes."""
    if isinstance(value, BuiltTensor):
        return value
    return node.constant(np.asarray(value, dtype.numpy), "number")


def part(
    node: OnnxNode, data: BuiltTensor, axis: int, begin: int, count: int, stride: int = 1
) -> BuiltTensor:
    """``count`` elements along an axis, from ``begin`` by steps of ``stride``."""
    rank = len(data.shape)
    if (begin, count, stride) == (0, data.shape[axis], 1):
        return data
    begins, strides, shape = [0] * rank, [1] * rank, list(data.shape)
    begins[axis], strides[axis], shape[axis] = begin, stride, count
    attrs = StridedSliceAttrs(tuple(begins), tuple(strides), tuple(shape))
    return node.emit("strided_slice", attrs, (data,))


def flipped(node: OnnxNode, data: BuiltTensor, axes: Sequence[int]) -> BuiltTensor:
    """The data with some axes in the opposite order."""
    shape = data.shape
    begin = tuple(n - 1 if a in axes else 0 for a, n in enumerate(shape))
    strides = tuple(-1 if a in axes else 1 for a in range(len(shape)))
    if max((shape[a] for a in axes), default=1) == 1:
        return data
    return node.emit("strided_slice", StridedSliceAttrs(begin, strides, shape), (data,))


def padded(
    node: OnnxNode, data: BuiltTensor, pads: Sequence[tuple[int, int]], value: float = 0.0
) -> BuiltTensor:
    """The data with cells before and after each axis; negative numbers remove cells."""
    removed = [(max(-b, 0), max(-a, 0)) for b, a in pads]
    for axis, (before, after) in enumerate(removed):
        data = part(node, data, axis, before, data.shape[axis] - before - after)
    added = tuple((max(b, 0), max(a, 0)) for b, a in pads)
    if not any(map(any, added)):
        return data
    stored = value if data.dtype is DType.FLOAT32 else int(value)
    return node.emit("nn.pad", PadAttrs(added, stored), (data,))


def joined(node: OnnxNode, parts: Sequence[BuiltTensor], axis: int) -> BuiltTensor:
    """Tensors one after the other along an axis."""
    if len(parts) == 1:
        return parts[0]
    return node.emit("concatenate", ConcatenateAttrs(axis), parts)


def transposed(node: OnnxNode, data: BuiltTensor, axes: Sequence[int]) -> BuiltTensor:
    """The data with its axes in another order. If only axes of size 1 move, it is a view."""
    moving = [axis for axis in axes if data.shape[axis] != 1]
    if moving == sorted(moving):
        return node.reshaped(data, tuple(data.shape[axis] for axis in axes))
    return node.emit("transpose", TransposeAttrs(tuple(axes)), (data,))


# Powers of magnitudes and their roots, which norms consist of.

_MOST_PRODUCTS = 8  # larger powers are computed with exp and log


def magnitude(node: OnnxNode, data: BuiltTensor, p: float) -> BuiltTensor:
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


def multiplying_product(node: OnnxNode, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
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
    if rhs.value is not None:
        attrs = DenseAttrs(Activation.UNLIMITED, Rounding.DOUBLE, keep_num_dims=True)
        return node.emit("nn.dense", attrs, (lhs, transposed(node, rhs, (1, 0))))
    rows = node.reshaped(lhs, (math.prod(lhs.shape[:-1]), lhs.shape[-1]))
    found = node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), (rows, rhs))
    return node.reshaped(found, (*lhs.shape[:-1], rhs.shape[-1]))


def _by_matrices(node: OnnxNode, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    batches = lhs.shape[:-2]
    if batches == rhs.shape[:-2]:
        flat = [node.reshaped(t, (math.prod(batches), *t.shape[-2:])) for t in (lhs, rhs)]
        found = node.emit("nn.batch_matmul", BatchMatmulAttrs(False, False), flat)
        return node.reshaped(found, (*batches, *found.shape[1:]))
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
    products = binary(node, "multiply", rows, columns)
    last = len(products.shape) - 1
    return total(node, products, (last,), keep_dims=False)


# Sums and products over any axes, of floats and integers.

Axes = tuple[int, ...]


def total(node: OnnxNode, data: BuiltTensor, axes: Axes, *, keep_dims: bool) -> BuiltTensor:
    """The sum over some axes, of float32, int32 or int64."""
    if not axes:
        return data
    if data.dtype is not DType.INT64:
        return node.emit("sum", SumAttrs(axes, keep_dims), (data,))
    return _last(node, data, axes, "cumsum", keep_dims=keep_dims)


def reducing_product(
    node: OnnxNode, data: BuiltTensor, axes: Axes, *, keep_dims: bool
) -> BuiltTensor:
    """The product over some axes, of float32, int32 or int64."""
    return _last(node, data, axes, "cumprod", keep_dims=keep_dims) if axes else data


def kept(shape: Sequence[int], axes: Axes, *, keep_dims: bool) -> tuple[int, ...]:
    """The shape without some axes, or with 1 in their place."""
    sizes = (1 if axis in axes else size for axis, size in enumerate(shape))
    if keep_dims:
        return tuple(sizes)
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _last(
    node: OnnxNode, data: BuiltTensor, axes: Axes, op: str, *, keep_dims: bool
) -> BuiltTensor:
    """The last running sum or product of the values over the axes."""
    shape = kept(data.shape, axes, keep_dims=keep_dims)
    others = [axis for axis in range(len(data.shape)) if axis not in axes]
    moved = transposed(node, data, (*others, *axes))
    rows = node.reshaped(moved, (math.prod(shape), data.type.size // math.prod(shape)))
    attrs: Attrs = CumsumAttrs(1) if op == "cumsum" else CumprodAttrs(1)
    running = node.emit(op, attrs, (rows,))
    return node.reshaped(part(node, running, 1, running.shape[1] - 1, 1), shape)
