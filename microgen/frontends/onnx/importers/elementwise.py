"""Arithmetic, comparisons and logic of tensors."""

from __future__ import annotations

import functools
import math

import numpy as np

from microgen.frontends.onnx.composing import (
    NUMBERS,
    binary,
    cast,
    chosen,
    compared,
    extremum,
    is_float,
)
from microgen.frontends.onnx.importers import Importer, direct
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs, LogicalAttrs
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from microgen.graph.ops.elementwise.bitwise import BitFunction, BitwiseAttrs
from microgen.graph.ops.elementwise.product import PowerAttrs, PReluAttrs
from microgen.graph.ops.unary.functions import AbsAttrs


def _binary(op: str) -> Importer:
    def importer(node: OnnxNode) -> BuiltTensor:
        return binary(node, op, node.tensor(0, *NUMBERS), node.tensor(1))

    return importer


def _extremum(op: str) -> Importer:
    def importer(node: OnnxNode) -> BuiltTensor:
        tensors = node.tensors()
        node.expect(tensors[0], *NUMBERS)
        return functools.reduce(functools.partial(extremum, node, op), tensors)

    return importer


def _sum(node: OnnxNode) -> BuiltTensor:
    tensors = node.tensors()
    node.expect(tensors[0], DType.FLOAT32)
    return functools.reduce(functools.partial(binary, node, "add"), tensors)


def _mean(node: OnnxNode) -> BuiltTensor:
    total, count = _sum(node), len(node.tensors())
    # A sum of one tensor is the tensor itself, without a node.
    if count == 1:
        return total
    return binary(node, "divide", total, count)


def _mod(node: OnnxNode) -> BuiltTensor:
    op = "fmod" if node.attr("fmod", 0) else "floor_mod"
    return node.emit(op, FloorDivisionAttrs(), (node.tensor(0, *NUMBERS), node.tensor(1)))


def _pow(node: OnnxNode) -> BuiltTensor:
    """Powers in the base's dtype."""
    base = node.tensor(0, DType.FLOAT32, DType.INT32, DType.INT64)
    exponent = node.tensor(1, *NUMBERS)
    if is_float(base) and exponent.value is not None:
        product = _small_power(node, base, exponent)
        if product is not None:
            return product
    dtype = base.dtype
    # Integers are raised in int64 if the exponents are integers of another dtype, and in float32 if
    # these are floats.
    if dtype is not exponent.dtype and not is_float(base):
        dtype = DType.FLOAT32 if is_float(exponent) else DType.INT64
    operands = [cast(node, each, dtype) for each in (base, exponent)]
    return cast(node, node.emit("power", PowerAttrs(), operands), base.dtype)


def _small_power(node: OnnxNode, base: BuiltTensor, exponent: BuiltTensor) -> BuiltTensor | None:
    """A square, a cube or the base itself, if all exponents are 2, 3 or 1, and the result has the
    base's shape."""
    assert exponent.value is not None
    pairs = zip(exponent.shape[::-1], base.shape[::-1], strict=False)
    # Otherwise the result has the exponent's shape, to which products do not broadcast.
    fits = len(exponent.shape) <= len(base.shape) and all(one in (1, other) for one, other in pairs)
    power = exponent.value.flat[0] if exponent.value.size else 0
    if not fits or power not in (1, 2, 3) or np.any(exponent.value != power):
        return None
    return functools.reduce(functools.partial(binary, node, "multiply"), [base] * int(power))


def _bitwise(function: BitFunction) -> Importer:
    return direct("bitwise", BitwiseAttrs(function), *INTEGERS)


def _shift(node: OnnxNode) -> Value:
    direction = node.attr("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise node.invalid(f"has the direction {direction!r}; LEFT or RIGHT is expected")
    return _bitwise(BitFunction[direction])(node)


def _bitwise_not(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, *INTEGERS)
    # x XOR all ones is NOT x.
    ones = node.constant(np.invert(np.zeros((), data.dtype.numpy)), "ones")
    return node.emit("bitwise", BitwiseAttrs(BitFunction.XOR), (data, ones))


def _where(node: OnnxNode) -> BuiltTensor:
    return chosen(node, node.tensor(0, DType.BOOL), node.tensor(1), node.tensor(2))


def _prelu(node: OnnxNode) -> BuiltTensor:
    """The slope broadcasts to the data only."""
    data, slope = node.tensor(0, *NUMBERS), node.tensor(1)
    if is_float(data):
        return node.emit("nn.prelu", PReluAttrs(), (data, slope))
    # Integers without a sign are never negative.
    if data.dtype.numpy.kind == "u":
        return data
    is_negative = compared(node, "less", data, 0)
    return chosen(node, is_negative, binary(node, "multiply", data, slope), data)


def _comparison(op: str, *accepted: DType) -> Importer:
    return direct(op, ComparisonAttrs(), *accepted, dtype=DType.BOOL)


def _is_nan(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, DType.FLOAT32)
    # NaN is the only number that differs from itself.
    return compared(node, "not_equal", data, data)


def _is_inf(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0, DType.FLOAT32)
    positive, negative = (node.attr(f"detect_{sign}", 1) for sign in ("positive", "negative"))
    if not (positive or negative):
        return node.constant(np.zeros(data.shape, np.bool_), "none")
    if positive and negative:
        data = node.emit("abs", AbsAttrs(), (data,))
    return compared(node, "equal", data, math.inf if positive else -math.inf)


IMPORTERS = {
    "Add": _binary("add"),
    "Sub": _binary("subtract"),
    "Mul": _binary("multiply"),
    "Div": _binary("divide"),
    "Max": _extremum("maximum"),
    "Min": _extremum("minimum"),
    "Sum": _sum,
    "Mean": _mean,
    "Mod": _mod,
    "Pow": _pow,
    "BitwiseAnd": _bitwise(BitFunction.AND),
    "BitwiseOr": _bitwise(BitFunction.OR),
    "BitwiseXor": _bitwise(BitFunction.XOR),
    "BitwiseNot": _bitwise_not,
    "BitShift": _shift,
    "Where": _where,
    "PRelu": _prelu,
    "Equal": _comparison("equal", *NUMBERS, DType.BOOL),
    "Greater": _comparison("greater", *NUMBERS),
    "GreaterOrEqual": _comparison("greater_equal", *NUMBERS),
    "Less": _comparison("less", *NUMBERS),
    "LessOrEqual": _comparison("less_equal", *NUMBERS),
    "And": direct("logical_and", LogicalAttrs(), DType.BOOL),
    "Or": direct("logical_or", LogicalAttrs(), DType.BOOL),
    "Xor": _comparison("not_equal", DType.BOOL),
    "Not": direct("logical_not", LogicalAttrs(), DType.BOOL),
    "IsNaN": _is_nan,
    "IsInf": _is_inf,
}
