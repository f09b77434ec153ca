"""Adds the nodes of which importers compose operators: arithmetic of tensors and numbers, parts of
tensors, and tensors joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs

_BINARY: dict[str, Callable[[Activation], Attrs]] = {
    "add": AddAttrs,
    "divide": lambda activation: DivideAttrs(activation, shifts_wrap=False),
    "multiply": MultiplyAttrs,
    "subtract": SubtractAttrs,
}


def binary(node: OnnxNode, op: str, lhs: Tensor, rhs: Tensor | float) -> Tensor:
    """add, divide, multiply or subtract; a number becomes a constant of the left dtype."""
    is_float = lhs.dtype is DType.FLOAT32
    attrs = _BINARY[op](Activation.UNLIMITED if is_float else Activation.NONE)
    return node.emit(op, attrs, (lhs, as_tensor(node, rhs, lhs.dtype)))


def as_tensor(node: OnnxNode, value: Tensor | float, dtype: DType) -> Tensor:
    """The tensor, or a number as a constant without axes."""
    if isinstance(value, Tensor):
        return value
    return node.constant(np.asarray(value, dtype.numpy), "number")


def part(
    node: OnnxNode, data: Tensor, axis: int, begin: int, count: int, stride: int = 1
) -> Tensor:
    """``count`` elements along an axis, from ``begin`` by steps of ``stride``."""
    rank = len(data.shape)
    if (begin, count, stride) == (0, data.shape[axis], 1):
        return data
    begins, strides, shape = [0] * rank, [1] * rank, list(data.shape)
    begins[axis], strides[axis], shape[axis] = begin, stride, count
    attrs = StridedSliceAttrs(tuple(begins), tuple(strides), tuple(shape))
    return node.emit("strided_slice", attrs, (data,))


def flipped(node: OnnxNode, data: Tensor, axes: Sequence[int]) -> Tensor:
    """The data with some axes in the opposite order."""
    shape = data.shape
    begin = tuple(n - 1 if a in axes else 0 for a, n in enumerate(shape))
    strides = tuple(-1 if a in axes else 1 for a in range(len(shape)))
    if max((shape[a] for a in axes), default=1) == 1:
        return data
    return node.emit("strided_slice", StridedSliceAttrs(begin, strides, shape), (data,))


def padded(
    node: OnnxNode, data: Tensor, pads: Sequence[tuple[int, int]], value: float = 0.0
) -> Tensor:
    """The data with cells before and after each axis; negative numbers remove cells."""
    removed = [(max(-b, 0), max(-a, 0)) for b, a in pads]
    for axis, (before, after) in enumerate(removed):
        data = part(node, data, axis, before, data.shape[axis] - before - after)
    added = tuple((max(b, 0), max(a, 0)) for b, a in pads)
    if not any(map(any, added)):
        return data
    stored = value if data.dtype is DType.FLOAT32 else int(value)
    return node.emit("nn.pad", PadAttrs(added, stored), (data,))


def joined(node: OnnxNode, parts: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors one after the other along an axis."""
    if len(parts) == 1:
        return parts[0]
    return node.emit("concatenate", ConcatenateAttrs(axis), parts)


def transposed(node: OnnxNode, data: Tensor, axes: Sequence[int]) -> Tensor:
    """The data with its axes in another order. If only axes of size 1 move, it is a view."""
    moving = [axis for axis in axes if data.shape[axis] != 1]
    if moving == sorted(moving):
        return node.reshaped(data, tuple(data.shape[axis] for axis in axes))
    return node.emit("transpose", TransposeAttrs(tuple(axes)), (data,))
