"""Shared by importers of elementwise operators: arithmetic of tensors as ONNX defines it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.unary.real_function import RealFunctionAttrs

NUMBERS = (DType.FLOAT32, *INTEGERS)
ARITHMETIC: dict[str, Callable[[Activation], Attrs]] = {
    "add": AddAttrs,
    "subtract": SubtractAttrs,
    "multiply": MultiplyAttrs,
    "divide": lambda activation: DivideAttrs(activation, shifts_wrap=False),
}
EXTREMA = {"maximum": MaximumAttrs, "minimum": MinimumAttrs}


def limits(dtype: DType) -> tuple[float, float]:
    """The least and the greatest value of a dtype."""
    if dtype.numpy.kind not in "iu":
        return (-math.inf, math.inf) if dtype is DType.FLOAT32 else (0, 1)
    found = np.iinfo(dtype.numpy)
    return int(found.min), int(found.max)


def is_float(tensor: BuiltTensor) -> bool:
    """Whether the tensor is of float32."""
    return tensor.dtype is DType.FLOAT32


def arithmetic(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """The result of one of ``ARITHMETIC`` for plain numbers: floats may become infinite, and
    integers wrap."""
    activation = Activation.UNLIMITED if is_float(lhs) else Activation.NONE
    return node.emit(op, ARITHMETIC[op](activation), (lhs, rhs))


def extremum(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """The maximum or minimum of each two elements; NaN if one is NaN."""
    return node.emit(op, EXTREMA[op](keeps_nan=is_float(lhs)), (lhs, rhs))


def compared(node: OnnxNode, op: str, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """The bool tensor of a comparison."""
    return node.emit(op, ComparisonAttrs(), (lhs, rhs), dtype=DType.BOOL, quant=None)


def cast(node: OnnxNode, data: BuiltTensor, dtype: DType) -> BuiltTensor:
    """The numbers in another dtype."""
    if data.dtype is dtype:
        return data
    return node.emit("cast", CastAttrs(), (data,), dtype=dtype, quant=None)


def real(node: OnnxNode, function: str, data: BuiltTensor, *numbers: float) -> BuiltTensor:
    """A function of each float32 value; the numbers are rounded to float32."""
    node.expect(data, DType.FLOAT32)
    rounded = (float(np.float32(number)) for number in numbers)
    return node.emit("real_function", RealFunctionAttrs(function, *rounded), (data,))


def scalar(node: OnnxNode, number: float, dtype: DType) -> BuiltTensor:
    """A constant without axes, which broadcasts to any tensor."""
    return node.constant(np.array(number, dtype.numpy), "number")


def folded(
    combine: Callable[[BuiltTensor, BuiltTensor], BuiltTensor], tensors: Sequence[BuiltTensor]
) -> BuiltTensor:
    """All tensors combined, from the first to the last."""
    result = tensors[0]
    for each in tensors[1:]:
        result = combine(result, each)
    return result
