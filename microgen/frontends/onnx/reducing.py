"""Sums and products over any axes, of floats and integers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microgen.frontends.onnx.composing import part, transposed
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.reductions.reduction import SumAttrs
from microgen.graph.ops.reductions.running import CumprodAttrs, CumsumAttrs

Axes = tuple[int, ...]


def total(node: OnnxNode, data: Tensor, axes: Axes, *, keep_dims: bool) -> Tensor:
    """The sum over some axes, of float32, int32 or int64."""
    if not axes:
        return data
    if data.dtype is not DType.INT64:
        return node.emit("sum", SumAttrs(axes, keep_dims), (data,))
    return _last(node, data, axes, "cumsum", keep_dims=keep_dims)


def product(node: OnnxNode, data: Tensor, axes: Axes, *, keep_dims: bool) -> Tensor:
    """The product over some axes, of float32, int32 or int64."""
    return _last(node, data, axes, "cumprod", keep_dims=keep_dims) if axes else data


def kept(shape: Sequence[int], axes: Axes, *, keep_dims: bool) -> tuple[int, ...]:
    """The shape without some axes, or with 1 in their place."""
    sizes = (1 if axis in axes else size for axis, size in enumerate(shape))
    if keep_dims:
        return tuple(sizes)
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _last(node: OnnxNode, data: Tensor, axes: Axes, op: str, *, keep_dims: bool) -> Tensor:
    """The last running sum or product of the values over the axes."""
    shape = kept(data.shape, axes, keep_dims=keep_dims)
    others = [axis for axis in range(len(data.shape)) if axis not in axes]
    moved = transposed(node, data, (*others, *axes))
    rows = node.reshaped(moved, (math.prod(shape), data.type.size // math.prod(shape)))
    attrs: Attrs = CumsumAttrs(1) if op == "cumsum" else CumprodAttrs(1)
    running = node.emit(op, attrs, (rows,))
    return node.reshaped(part(node, running, 1, running.shape[1] - 1, 1), shape)
