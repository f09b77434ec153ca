"""Elementwise operators of two tensors, and ``where``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.sums import Sums
from microgen.frontends.tensors import Tensor
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.comparisons.logical import LogicalAttrs
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.extremum import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.elementwise.where import WhereAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs

# Narrower integers wrap around in Relay, but saturate in our kernels.
ARITHMETIC = (DType.FLOAT32, DType.INT32)
EXTREMA = (*ARITHMETIC, DType.INT8, DType.INT16)


def added(call: RelayCall, lhs: Tensor, rhs: Tensor) -> Tensor:
    """The sum. If it adds one value per channel to a convolution, the values become its bias."""
    call.expect(lhs, *ARITHMETIC)
    for data, bias in ((lhs, rhs), (rhs, lhs)):
        sums = call.sums_of(data)
        if sums is not None and sums.bias is None and _is_bias(bias, sums, len(data.shape)):
            flat = call.reshaped(bias, (sums.channels,))
            return call.emit_sums(dataclasses.replace(sums, bias=flat))
    return call.emit("add", AddAttrs(Activation.NONE), (lhs, rhs))


def _is_bias(bias: Tensor, sums: Sums, rank: int) -> bool:
    """Whether a tensor has one value per channel and broadcasts along all other axes."""
    shape = [1] * rank
    shape[sums.axis] = sums.channels
    padded = (1,) * (rank - len(bias.shape)) + bias.shape
    return padded == tuple(shape) and math.prod(shape) == math.prod(bias.shape)


def _add(call: RelayCall) -> Tensor:
    return added(call, call.tensor(0), call.tensor(1))


def _binary(op: str, attrs: Attrs, accepted: Sequence[DType]) -> Importer:
    def importer(call: RelayCall) -> Tensor:
        lhs, rhs = call.tensor(0), call.tensor(1)
        call.expect(lhs, *accepted)
        return call.emit(op, attrs, (lhs, rhs))

    return importer


def _comparison(op: str) -> Importer:
    def importer(call: RelayCall) -> Tensor:
        inputs = [_widened(call, call.tensor(i)) for i in (0, 1)]
        return call.emit(op, ComparisonAttrs(), inputs, dtype=DType.BOOL, quant=None)

    return importer


def _widened(call: RelayCall, tensor: Tensor) -> Tensor:
    """The tensor as int32 if its integers are narrower, because kernels would scale those before
    they compare them."""
    if tensor.dtype not in (DType.INT8, DType.INT16):
        return tensor
    return call.emit("cast", CastAttrs(), (tensor,), dtype=DType.INT32, quant=None)


def _where(call: RelayCall) -> Tensor:
    condition, lhs, rhs = (call.tensor(i) for i in range(3))
    if condition.dtype is not DType.BOOL:
        condition = call.emit("cast", CastAttrs(), (condition,), dtype=DType.BOOL, quant=None)
    return call.emit(
        "where", WhereAttrs(), (condition, lhs, rhs), dtype=lhs.dtype, quant=lhs.type.quant
    )


IMPORTERS = {
    "add": _add,
    "subtract": _binary("subtract", SubtractAttrs(Activation.NONE), ARITHMETIC),
    "multiply": _binary("multiply", MultiplyAttrs(Activation.NONE), ARITHMETIC),
    "divide": _binary("divide", DivideAttrs(Activation.NONE, shifts_wrap=False), ARITHMETIC),
    "maximum": _binary("maximum", MaximumAttrs(), EXTREMA),
    "minimum": _binary("minimum", MinimumAttrs(), EXTREMA),
    "equal": _comparison("equal"),
    "not_equal": _comparison("not_equal"),
    "less": _comparison("less"),
    "less_equal": _comparison("less_equal"),
    "greater": _comparison("greater"),
    "greater_equal": _comparison("greater_equal"),
    "logical_and": _binary("logical_and", LogicalAttrs(), (DType.BOOL,)),
    "logical_or": _binary("logical_or", LogicalAttrs(), (DType.BOOL,)),
    "where": _where,
}
