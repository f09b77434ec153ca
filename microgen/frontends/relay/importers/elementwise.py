"""Elementwise operators of one or two tensors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from microgen.frontends import layouts
from microgen.frontends.quantization import activation_of
from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.frontends.sums import PendingSums
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs, LogicalAttrs
from microgen.graph.ops.division.divide import DivideAttrs
from microgen.graph.ops.elementwise.addition import AddAttrs, SubtractAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs, WhereAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs
from microgen.graph.ops.unary.activations import ClipAttrs, LeakyReluAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs, NegativeAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs, SqrtAttrs
from microgen.graph.ops.unary.sigmoid import SigmoidAttrs, TanhAttrs

# Narrower integers wrap around in Relay, but saturate in our kernels.
ARITHMETIC = (DType.FLOAT32, DType.INT32)
EXTREMA = (*ARITHMETIC, DType.INT8, DType.INT16)


def added(call: RelayCall, lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
    """The sum of two tensors. If one of them has one value per channel, and the other is a
    convolution's result, the values become the convolution's bias."""
    call.expect(lhs, *ARITHMETIC)
    for data, bias in ((lhs, rhs), (rhs, lhs)):
        sums = call.sums_of(data)
        if sums is not None and sums.bias is None and _is_bias(bias, sums, len(data.shape)):
            flat = call.reshaped(bias, (sums.channels,))
            return call.emit_sums(dataclasses.replace(sums, bias=flat))
    return call.emit("add", AddAttrs(Activation.NONE), (lhs, rhs))


def _is_bias(bias: BuiltTensor, sums: PendingSums, rank: int) -> bool:
    """Whether a tensor has one value per channel and broadcasts along all other axes."""
    shape = [1] * rank
    shape[sums.axis] = sums.channels
    padded = (1,) * (rank - len(bias.shape)) + bias.shape
    return padded == tuple(shape) and math.prod(shape) == math.prod(bias.shape)


def _add(call: RelayCall) -> BuiltTensor:
    return added(call, call.tensor(0), call.tensor(1))


def _binary(op: str, attrs: Attrs, accepted: Sequence[DType]) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        return call.emit(op, attrs, (call.tensor(0, *accepted), call.tensor(1)))

    return importer


def _comparison(op: str) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        inputs = [_widened(call, call.tensor(i)) for i in (0, 1)]
        return call.emit(op, ComparisonAttrs(), inputs, dtype=DType.BOOL, quant=None)

    return importer


def _widened(call: RelayCall, tensor: BuiltTensor) -> BuiltTensor:
    """The tensor as int32 if its integers are narrower."""
    # Kernels would scale narrow integers before they compare them.
    is_narrow = tensor.dtype in (DType.INT8, DType.INT16)
    return call.cast(tensor, DType.INT32) if is_narrow else tensor


def _where(call: RelayCall) -> BuiltTensor:
    condition, lhs, rhs = (call.tensor(i) for i in range(3))
    inputs = (call.cast(condition, DType.BOOL), lhs, rhs)
    return call.emit("where", WhereAttrs(), inputs, dtype=lhs.dtype, quant=lhs.type.quant)


_RANGES = {  # of floats: bounds within which a kernel may clamp its own output
    (0.0, 6.0): Activation.RELU6,
    (-1.0, 1.0): Activation.RELU_N1_TO_1,
    (0.0, float("inf")): Activation.RELU,
}


def _unary(op: str, attrs: Attrs, accepted: DType = DType.FLOAT32) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        return call.emit(op, attrs, (call.tensor(0, accepted),))

    return importer


_float_negative = _unary("negative", NegativeAttrs())
_float_abs = _unary("abs", AbsAttrs())


def _negative(call: RelayCall) -> Value:
    data = call.tensor(0)
    return _negated(call, data) if data.dtype is DType.INT32 else _float_negative(call)


def _abs(call: RelayCall) -> Value:
    data = call.tensor(0)
    if data.dtype is not DType.INT32:
        return _float_abs(call)
    return call.emit("maximum", MaximumAttrs(), (data, _negated(call, data)))


def _negated(call: RelayCall, data: BuiltTensor) -> BuiltTensor:
    """0 - x."""
    # For the least int32 the difference is x itself, as in Relay.
    zero = call.constant(np.zeros((1,) * len(data.shape), np.int32), "zero")
    return call.emit("subtract", SubtractAttrs(Activation.NONE), (zero, data))


def _relu(call: RelayCall) -> BuiltTensor:
    data = call.tensor(0)
    if data.dtype is DType.FLOAT32:
        return call.emit("clip", ClipAttrs(Activation.RELU), (data,))
    return _bounded(call, data, "maximum", 0)


def _clip(call: RelayCall) -> BuiltTensor:
    data, low, high = call.tensor(0), call.attrs["a_min"], call.attrs["a_max"]
    if data.dtype is DType.FLOAT32 and (low, high) in _RANGES:
        return call.emit("clip", ClipAttrs(_RANGES[low, high]), (data,))
    activation = activation_of(data.type, low, high)
    if activation is not None:
        return call.emit("clip", ClipAttrs(activation), (data,))
    least = _bounded(call, data, "maximum", low)
    return _bounded(call, least, "minimum", high)


def _bounded(call: RelayCall, data: BuiltTensor, op: str, bound: float) -> BuiltTensor:
    """The larger ("maximum") or the smaller of each element and a number."""
    call.expect(data, *EXTREMA)
    dtype = data.dtype.numpy
    if dtype.kind == "i":
        # A bound outside of the dtype's range has the effect of the range's end.
        limits = np.iinfo(dtype)
        whole = np.clip(bound, float(limits.min), float(limits.max))
        if int(whole) != whole:
            raise call.unsupported(f"has the bound {bound:g}", supported="whole bounds of integers")
        bound = min(int(whole), limits.max)
        if bound == (limits.min if op == "maximum" else limits.max):
            return data
    value = call.constant(np.array([bound]).astype(dtype), op, data.type.quant)
    attrs = MaximumAttrs() if op == "maximum" else MinimumAttrs()
    return call.emit(op, attrs, (data, value))


def _cast(call: RelayCall) -> BuiltTensor:
    data, output = call.tensor(0), call.output()
    return call.cast(data, output.dtype, output.quant)


def _leaky_relu(call: RelayCall) -> BuiltTensor:
    data = call.tensor(0, DType.FLOAT32)
    alpha = float(np.float32(call.attrs["alpha"]))
    return call.emit("nn.leaky_relu", LeakyReluAttrs(alpha), (data,))


def _softmax(op: str, attrs: Attrs) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        data = call.tensor(0, DType.FLOAT32)
        moved, source, target = layouts.axis_last(call, data, arguments.axis(call, data))
        return call.laid_out(call.emit(op, attrs, (moved,)), target, source)

    return importer


def _same(call: RelayCall) -> BuiltTensor:
    return call.tensor(0)


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
    "nn.relu": _relu,
    "clip": _clip,
    "cast": _cast,
    "nn.leaky_relu": _leaky_relu,
    "nn.softmax": _softmax("nn.softmax", SoftmaxAttrs(1.0)),
    "nn.log_softmax": _softmax("nn.log_softmax", LogSoftmaxAttrs()),
    "sigmoid": _unary("sigmoid", SigmoidAttrs()),
    "tanh": _unary("tanh", TanhAttrs()),
    "exp": _unary("exp", ExpAttrs()),
    "log": _unary("log", LogAttrs()),
    "sqrt": _unary("sqrt", SqrtAttrs()),
    "rsqrt": _unary("rsqrt", RsqrtAttrs()),
    "abs": _abs,
    "negative": _negative,
    "logical_not": _unary("logical_not", LogicalAttrs(), DType.BOOL),
    "copy": _same,
    "nn.dropout": _same,
}
