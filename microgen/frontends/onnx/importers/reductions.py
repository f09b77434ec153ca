"""Reductions over axes: Reduce*, ArgMax and ArgMin."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microgen.frontends.onnx import composing, move_nodes
from microgen.frontends.onnx.composing import Axes, binary, cast, is_float
from microgen.frontends.onnx.importers import Importer, arguments
from microgen.frontends.onnx.move_nodes import flipped
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops import limits
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, ArgMinAttrs, MaxAttrs, MinAttrs
from microgen.graph.ops.reductions.reduction import AllAttrs, MeanAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs

_NUMBERS = (DType.FLOAT32, DType.INT32, DType.INT64)
_ORDERED = (DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.UINT8)
Reduce = Callable[[OnnxNode, BuiltTensor, Axes, bool], BuiltTensor]
_Numpy = Callable[..., Array]


def _reduction(
    reduce: Reduce, *accepted: DType, of_nothing: float, shapes: _Numpy | None = None
) -> Importer:
    """The importer of a reduction. ``of_nothing`` is the result of reducing no elements, limited to
    the dtype's range. ``shapes`` reduces constant integers of any dtype, from which models compute
    shapes.
    """

    def importer(node: OnnxNode) -> BuiltTensor:
        data, keep = node.tensor(0), bool(node.attr("keepdims", 1))
        if not data.type.size:
            node.expect(data, *accepted)
            return _of_nothing(node, data, keep, of_nothing)
        axes = _axes(node, len(data.shape))
        # Shapes are int64, and the ops find no extremes of int64, so constants are computed here.
        if shapes and data.value is not None and data.value.dtype.kind in "iu":
            value = shapes(data.value, axis=axes, keepdims=keep).astype(data.value.dtype)
            return node.constant(np.asarray(value), "reduced")
        node.expect(data, *accepted)
        return reduce(node, data, axes, keep)

    return importer


def _of_nothing(node: OnnxNode, data: BuiltTensor, keep: bool, result: float) -> BuiltTensor:
    """The results of a reduction of no elements, if the output has elements."""
    shape = node.declared_for(1)
    if shape is None:
        shape = composing.kept(data.shape, _axes(node, len(data.shape)), keep)
    if 0 in shape:
        return move_nodes.empty(node, shape, data.dtype)
    # A mean of no elements is 0 / 0.
    if math.isnan(result):
        raise node.unsupported(f"of {data.type} has no value", supported="axes of 1 or more")
    dtype = data.dtype.numpy
    if data.dtype is not DType.FLOAT32:
        low, high = (
            (0, 1) if data.dtype is DType.BOOL else (limits.least(dtype), limits.greatest(dtype))
        )
        result = min(max(result, low), high)
    return move_nodes.filled(node, shape, np.array(result, dtype))


def _axes(node: OnnxNode, rank: int) -> Axes:
    """The axes, ascending. If the node names no axes, these are all axes or none."""
    stated = node.ints_of("axes", 1)
    if stated:
        return tuple(sorted(arguments.axes(node, stated, rank)))
    return () if node.attr("noop_with_empty_axes", 0) else tuple(range(rank))


def mean(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    """The means over some axes."""
    return node.emit("mean", MeanAttrs(axes, keep), (data,)) if axes else data


def _squares(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return composing.total(node, binary(node, "multiply", data, data), axes, keep)


def _l1(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return composing.total(node, node.emit("abs", AbsAttrs(), (data,)), axes, keep)


def _l2(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return node.emit("sqrt", SqrtAttrs(), (_squares(node, data, axes, keep),))


def _log_sum(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return node.emit("log", LogAttrs(), (composing.total(node, data, axes, keep),))


def _log_sum_exp(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    if not axes:
        return data
    # The greatest value is subtracted before and added after, because exp would overflow.
    greatest = node.emit("max", MaxAttrs(axes, True, from_infinity=True), (data,))
    below = node.emit("exp", ExpAttrs(), (binary(node, "subtract", data, greatest),))
    logarithm = _log_sum(node, below, axes, True)
    result = binary(node, "add", logarithm, greatest)
    return node.reshaped(result, composing.kept(data.shape, axes, keep))


def greatest(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    """The greatest values over some axes, in the data's dtype."""
    if data.dtype is DType.BOOL:
        # The greatest bool is false only if all are.
        return _not(node, _min(node, _not(node, data), axes, keep))
    attrs = MaxAttrs(axes, keep, from_infinity=True)
    return cast(node, node.emit("max", attrs, (_comparable(node, data),)), data.dtype)


def _min(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    if data.dtype is DType.BOOL:
        return node.emit("all", AllAttrs(axes, keep), (data,))
    attrs = MinAttrs(axes, keep, from_infinity=True)
    return cast(node, node.emit("min", attrs, (_comparable(node, data),)), data.dtype)


def _not(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    return node.emit("logical_not", LogicalAttrs(), (data,))


def _position(op: str, attrs: type[ArgMaxAttrs] | type[ArgMinAttrs]) -> Importer:
    """The importer of ArgMax or ArgMin. The last of equal values is found as the first from the
    end."""

    def importer(node: OnnxNode) -> BuiltTensor:
        data = node.tensor(0, *_ORDERED)
        axis = arguments.axis(node, len(data.shape), 0)
        is_last = bool(node.attr("select_last_index", 0))
        # From the end, the last of equal values is the first one.
        numbers = flipped(node, _comparable(node, data), (axis,) if is_last else ())
        places = node.emit(op, attrs(axis), (numbers,), dtype=DType.INT64, quant=None)
        if is_last:
            end = node.constant(np.array(data.shape[axis] - 1, np.int64), "end")
            places = binary(node, "subtract", end, places)
        keep = bool(node.attr("keepdims", 1))
        return node.reshaped(places, composing.kept(data.shape, (axis,), keep))

    return importer


def _comparable(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    """The data in a dtype for which extremes can be computed: int32 for integers."""
    return data if is_float(data) else cast(node, data, DType.INT32)


IMPORTERS = {
    "ArgMax": _position("argmax", ArgMaxAttrs),
    "ArgMin": _position("argmin", ArgMinAttrs),
    "ReduceL1": _reduction(_l1, DType.FLOAT32, of_nothing=0),
    "ReduceL2": _reduction(_l2, DType.FLOAT32, of_nothing=0),
    "ReduceLogSum": _reduction(_log_sum, DType.FLOAT32, of_nothing=-math.inf),
    "ReduceLogSumExp": _reduction(_log_sum_exp, DType.FLOAT32, of_nothing=-math.inf),
    "ReduceMax": _reduction(greatest, *_ORDERED, DType.BOOL, shapes=np.max, of_nothing=-math.inf),
    "ReduceMean": _reduction(mean, DType.FLOAT32, of_nothing=math.nan),
    "ReduceMin": _reduction(_min, *_ORDERED, DType.BOOL, shapes=np.min, of_nothing=math.inf),
    "ReduceProd": _reduction(composing.product, *_NUMBERS, shapes=np.prod, of_nothing=1),
    "ReduceSum": _reduction(composing.total, *_NUMBERS, shapes=np.sum, of_nothing=0),
    "ReduceSumSquare": _reduction(_squares, *_NUMBERS, of_nothing=0),
}
