"""Operators whose results are known when a model is compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.frontends.onnx import composing, move_nodes, types
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import budget
from microgen.graph.ops.cost import moved

_NUMBERS = {"value_float": np.float32, "value_floats": np.float32}


def _constant(node: OnnxNode) -> BuiltTensor:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        stated = node.attr(name, None)
        if stated is not None:
            dtype = _NUMBERS.get(name, np.int64)
            return node.constant(stated if name == "value" else np.asarray(stated, dtype), "value")
    raise node.unsupported("has no value", supported="numbers and tensors")


def _constant_of_shape(node: OnnxNode) -> BuiltTensor:
    # An empty shape is the shape of one number.
    sizes = node.declared_for(0) or node.ints_of("shape", 0) or ()
    value = np.ravel(node.attr("value", np.zeros(1, np.float32)))
    if len(value) != 1:
        raise node.invalid(f"has {len(value)} values; one is expected")
    if 0 in sizes:
        return move_nodes.empty(node, sizes, DType(value.dtype.name))
    return move_nodes.filled(node, sizes, value[0])


def _shape(node: OnnxNode) -> BuiltTensor:
    shape = node.tensor(0).shape
    start, end = int(node.attr("start", 0)), int(node.attr("end", len(shape)))
    return node.constant(np.asarray(shape[start:end], np.int64), "shape")


def _size(node: OnnxNode) -> BuiltTensor:
    return node.constant(np.asarray(node.tensor(0).type.size, np.int64), "size")


def _range(node: OnnxNode) -> BuiltTensor:
    """Source: the specification: element i is start + i * delta."""
    declared = next(filter(None, map(node.declared_for, range(3))), None)
    if declared is not None:
        return _computed_range(node, declared)
    start, limit, delta = (node.constant_of(i, "limits").ravel() for i in range(3))
    if any(len(part) != 1 for part in (start, limit, delta)) or not delta[0]:
        raise node.invalid("needs three numbers, and a step other than 0")
    exact = (float(limit[0]) - float(start[0])) / float(delta[0])
    # The limits may be infinite, and the quotient may overflow.
    if not math.isfinite(exact):
        raise node.invalid(f"has the limits {start[0]}, {limit[0]} and the step {delta[0]}")
    count = max(0, math.ceil(exact))
    move_nodes.budgeted(node, (count,), DType(start.dtype.name), moved)
    return node.constant(start + np.arange(count).astype(start.dtype) * delta, "range")


def _computed_range(node: OnnxNode, declared: Sequence[int]) -> BuiltTensor:
    """A range whose start and step are computed. The model declares its number of elements."""
    start, delta = (node.reshaped(node.tensor(i), ()) for i in (0, 2))
    kind = move_nodes.budgeted(node, declared, start.dtype, moved)
    numbers = node.constant(np.arange(kind.size).astype(kind.dtype.numpy), "numbers")
    steps = composing.binary(node, "multiply", node.reshaped(numbers, declared), delta)
    return composing.binary(node, "add", steps, start)


def _eye_like(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    if len(data.shape) != 2:
        raise node.invalid(f"has the input {data.type}; two axes are expected")
    code = node.attr("dtype", None)
    dtype = data.dtype if code is None else types.dtype(int(code), "the output", node.where)
    move_nodes.budgeted(node, data.shape, dtype, moved)
    rows, columns = data.shape
    # A diagonal outside of the matrix is empty, however far outside it is.
    k = max(-rows, min(columns, int(node.attr("k", 0))))
    return node.constant(np.eye(rows, columns, k, dtype.numpy), "eye")


def _non_zero(node: OnnxNode) -> BuiltTensor:
    if node.tensor(0).value is None:
        raise node.unsupported(
            "finds as many places as its input has elements that are not 0, so its shape depends "
            "on values",
            hint="multiply by a mask, use Where, or take the elements with TopK of a fixed k",
        )
    value: Array = node.constant_of(0, "data")
    kind = ArrayType((value.ndim, value.size), DType.INT64)
    budget.spend(moved(None, (kind,), (kind,)), node.where)
    # A number is treated as a vector of one element, as in numpy.
    indices = np.stack(np.nonzero(np.atleast_1d(value))).astype(np.int64)
    return node.constant(indices, "places")


IMPORTERS = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "NonZero": _non_zero,
    "Range": _range,
    "Shape": _shape,
    "Size": _size,
}
