"""Arithmetic, comparisons and logic of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from microgen.frontends.onnx import numbers as n
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.onnx.numbers import NUMBERS
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from microgen.graph.ops.constraints import INTEGERS
from microgen.graph.ops.division.floor_division import FloorDivisionAttrs
from microgen.graph.ops.elementwise.bitwise import BitFunction, BitwiseAttrs
from microgen.graph.ops.elementwise.choices import WhereAttrs
from microgen.graph.ops.elementwise.product import PowerAttrs, PReluAttrs
from microgen.graph.ops.unary.functions import AbsAttrs


def _of_two(
    compute: Callable[[OnnxNode, str, BuiltTensor, BuiltTensor], BuiltTensor],
    op: str,
    *accepted: DType,
) -> Callable[[OnnxNode], BuiltTensor]:
    def importer(node: OnnxNode) -> BuiltTensor:
        lhs, rhs = node.tensor(0), node.tensor(1)
        node.expect(lhs, *accepted)
        return compute(node, op, lhs, rhs)

    return importer


def _binary(op: str) -> Callable[[OnnxNode], BuiltTensor]:
    return _of_two(n.arithmetic, op, *NUMBERS)


def _extremum(op: str) -> Callable[[OnnxNode], BuiltTensor]:
    def importer(node: OnnxNode) -> BuiltTensor:
        tensors = node.tensors()
        node.expect(tensors[0], *NUMBERS)
        return n.folded(partial(n.extremum, node, op), tensors)

    return importer


def _sum(node: OnnxNode) -> BuiltTensor:
    tensors = node.tensors()
    node.expect(tensors[0], DType.FLOAT32)
    return n.folded(partial(n.arithmetic, node, "add"), tensors)


def _mean(node: OnnxNode) -> BuiltTensor:
    total, count = _sum(node), len(node.tensors())
    if count == 1:
        return total
    return n.arithmetic(node, "divide", total, n.scalar(node, count, DType.FLOAT32))


def _mod(node: OnnxNode) -> BuiltTensor:
    lhs, rhs = node.tensor(0), node.tensor(1)
    node.expect(lhs, *NUMBERS)
    op = "fmod" if node.attr("fmod", 0) else "floor_mod"
    return node.emit(op, FloorDivisionAttrs(), (lhs, rhs))


def _pow(node: OnnxNode) -> BuiltTensor:
    """Powers in the base's dtype."""
    base, exponent = node.tensor(0), node.tensor(1)
    node.expect(base, DType.FLOAT32, DType.INT32, DType.INT64)
    node.expect(exponent, *NUMBERS)
    if n.is_float(base) and exponent.value is not None:
        found = _small_power(node, base, exponent)
        if found is not None:
            return found
    dtype = base.dtype
    # Integers with exponents of another integer dtype are raised in int64, those with floats as
    # exponents in float32.
    if dtype is not exponent.dtype and not n.is_float(base):
        dtype = DType.FLOAT32 if n.is_float(exponent) else DType.INT64
    operands = [n.cast(node, each, dtype) for each in (base, exponent)]
    return n.cast(node, node.emit("power", PowerAttrs(), operands), base.dtype)


def _small_power(node: OnnxNode, base: BuiltTensor, exponent: BuiltTensor) -> BuiltTensor | None:
    """A square, a cube or the base itself, if all exponents are 2, 3 or 1, and the result has the
    base's shape."""
    assert exponent.value is not None
    pairs = zip(exponent.shape[::-1], base.shape[::-1], strict=False)
    fits = len(exponent.shape) <= len(base.shape) and all(one in (1, other) for one, other in pairs)
    power = exponent.value.flat[0] if exponent.value.size else 0
    if not fits or power not in (1, 2, 3) or np.any(exponent.value != power):
        return None
    return n.folded(partial(n.arithmetic, node, "multiply"), [base] * int(power))


def _bitwise(function: BitFunction) -> Callable[[OnnxNode], BuiltTensor]:
    def importer(node: OnnxNode) -> BuiltTensor:
        node.expect(node.tensor(0), *INTEGERS)
        return node.emit("bitwise", BitwiseAttrs(function), (node.tensor(0), node.tensor(1)))

    return importer


def _shift(node: OnnxNode) -> BuiltTensor:
    functions = {"LEFT": BitFunction.LEFT, "RIGHT": BitFunction.RIGHT}
    direction = node.attr("direction")
    if direction not in functions:
        raise node.invalid(f"has the direction {direction!r}; LEFT or RIGHT is expected")
    return _bitwise(functions[direction])(node)


def _bitwise_not(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    node.expect(data, *INTEGERS)
    ones = node.constant(np.invert(np.zeros((), data.dtype.numpy)), "ones")
    return node.emit("bitwise", BitwiseAttrs(BitFunction.XOR), (data, ones))


def _where(node: OnnxNode) -> BuiltTensor:
    condition, lhs, rhs = (node.tensor(i) for i in range(3))
    node.expect(condition, DType.BOOL)
    inputs = (condition, lhs, rhs)
    return node.emit("where", WhereAttrs(), inputs, dtype=lhs.dtype, quant=lhs.type.quant)


def _prelu(node: OnnxNode) -> BuiltTensor:
    """The slope broadcasts to the data only."""
    data, slope = node.tensor(0), node.tensor(1)
    node.expect(data, *NUMBERS)
    if n.is_float(data):
        return node.emit("nn.prelu", PReluAttrs(), (data, slope))
    # Integers without a sign are never negative.
    if data.dtype.numpy.kind == "u":
        return data
    is_negative = n.compared(node, "less", data, n.scalar(node, 0, data.dtype))
    product = n.arithmetic(node, "multiply", data, slope)
    inputs = (is_negative, product, data)
    return node.emit("where", WhereAttrs(), inputs, dtype=data.dtype, quant=None)


def _comparison(op: str, *accepted: DType) -> Callable[[OnnxNode], BuiltTensor]:
    return _of_two(n.compared, op, *accepted)


def _logical(op: str) -> Callable[[OnnxNode], BuiltTensor]:
    def importer(node: OnnxNode) -> BuiltTensor:
        tensors = node.tensors()
        for each in tensors:
            node.expect(each, DType.BOOL)
        return node.emit(op, LogicalAttrs(), tensors)

    return importer


def _is_nan(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32)
    # NaN is the only number that differs from itself.
    return n.compared(node, "not_equal", data, data)


def _is_inf(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32)
    positive, negative = (node.attr(f"detect_{sign}", 1) for sign in ("positive", "negative"))
    if not (positive or negative):
        return node.constant(np.zeros(data.shape, np.bool_), "none")
    if positive and negative:
        data = node.emit("abs", AbsAttrs(), (data,))
    infinity = n.scalar(node, math.inf if positive else -math.inf, DType.FLOAT32)
    return n.compared(node, "equal", data, infinity)


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
    "Equal": _comparison("equal", *n.NUMBERS, DType.BOOL),
    "Greater": _comparison("greater", *n.NUMBERS),
    "GreaterOrEqual": _comparison("greater_equal", *n.NUMBERS),
    "Less": _comparison("less", *n.NUMBERS),
    "LessOrEqual": _comparison("less_equal", *n.NUMBERS),
    "And": _logical("logical_and"),
    "Or": _logical("logical_or"),
    "Xor": _comparison("not_equal", DType.BOOL),
    "Not": _logical("logical_not"),
    "IsNaN": _is_nan,
    "IsInf": _is_inf,
}
