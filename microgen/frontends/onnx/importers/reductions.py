"""Reductions over axes: Reduce*, ArgMax and ArgMin."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microgen.frontends.onnx import composing, move_nodes
from microgen.frontends.onnx import numbers as n
from microgen.frontends.onnx.composing import Axes, binary, flipped
from microgen.frontends.onnx.importers import Importer, arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, DType
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, ArgMinAttrs, MaxAttrs, MinAttrs
from microgen.graph.ops.reductions.reduction import AllAttrs, MeanAttrs
from microgen.graph.ops.unary.functions import AbsAttrs, ExpAttrs, LogAttrs
from microgen.graph.ops.unary.roots import SqrtAttrs

_NUMBERS = (DType.FLOAT32, DType.INT32, DType.INT64)
_ORDERED = (DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.UINT8, DType.BOOL)
_Reduce = Callable[[OnnxNode, BuiltTensor, Axes, bool], BuiltTensor]
_Numpy = Callable[..., Array]


def _reduction(
    reduce: _Reduce, *accepted: DType, of_nothing: float, shapes: _Numpy | None = None
) -> Importer:
    """The importer of a reduction. ``of_nothing`` is its result without elements, limited to the
    dtype's range. ``shapes`` computes constant integers of any dtype, from which shapes are made.
    """

    def importer(node: OnnxNode) -> BuiltTensor:
        data, keep = node.tensor(0), bool(node.attr("keepdims", 1))
        if not data.type.size:
            node.expect(data, *accepted)
            return _of_nothing(node, data, keep, of_nothing)
        axes = _axes(node, len(data.shape))
        if shapes and data.value is not None and data.value.dtype.kind in "iu":
            found = shapes(data.value, axis=axes, keepdims=keep).astype(data.value.dtype)
            return node.constant(np.asarray(found), "reduced")
        node.expect(data, *accepted)
        return reduce(node, data, axes, keep)

    return importer


def _of_nothing(node: OnnxNode, data: BuiltTensor, keep: bool, result: float) -> BuiltTensor:
    """The results of a reduction of no elements, if there are some."""
    shape = node.declared_for(1)
    if shape is None:
        shape = composing.kept(data.shape, _axes(node, len(data.shape)), keep_dims=keep)
    if 0 in shape:
        return move_nodes.empty(node, shape, data.dtype)
    if math.isnan(result):
        raise node.unsupported(f"of {data.type} has no value", supported="axes of 1 or more")
    low, high = n.limits(data.dtype)
    return move_nodes.filled(node, shape, np.array(min(max(result, low), high), data.dtype.numpy))


def _axes(node: OnnxNode, rank: int) -> Axes:
    """The axes, ascending; without any, all of them or none."""
    found = node.ints_of("axes", 1)
    if found:
        return tuple(sorted(arguments.axes(node, found, rank)))
    return () if node.attr("noop_with_empty_axes", 0) else tuple(range(rank))


def _sum(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return composing.total(node, data, axes, keep_dims=keep)


def _product(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return composing.reducing_product(node, data, axes, keep_dims=keep)


def _mean(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return node.emit("mean", MeanAttrs(axes, keep), (data,)) if axes else data


def _squares(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return _sum(node, binary(node, "multiply", data, data), axes, keep)


def _l1(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return _sum(node, node.emit("abs", AbsAttrs(), (data,)), axes, keep)


def _l2(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return node.emit("sqrt", SqrtAttrs(), (_squares(node, data, axes, keep),))


def _log_sum(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return node.emit("log", LogAttrs(), (_sum(node, data, axes, keep),))


def _log_sum_exp(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    if not axes:
        return data
    # The greatest value is subtracted before and added after, because exp would overflow.
    greatest = node.emit("max", MaxAttrs(axes, True, from_infinity=True), (data,))
    below = node.emit("exp", ExpAttrs(), (binary(node, "subtract", data, greatest),))
    logarithm = _log_sum(node, below, axes, True)
    found = binary(node, "add", logarithm, greatest)
    return node.reshaped(found, composing.kept(data.shape, axes, keep_dims=keep))


def _max(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    if data.dtype is DType.BOOL:
        # The greatest bool is false only if all are.
        opposite = _not(node, data)
        return _not(node, _every(node, opposite, axes, keep))
    return _wide(
        node, data, lambda d: node.emit("max", MaxAttrs(axes, keep, from_infinity=True), (d,))
    )


def _min(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    if data.dtype is DType.BOOL:
        return _every(node, data, axes, keep)
    return _wide(
        node, data, lambda d: node.emit("min", MinAttrs(axes, keep, from_infinity=True), (d,))
    )


def _every(node: OnnxNode, data: BuiltTensor, axes: Axes, keep: bool) -> BuiltTensor:
    return node.emit("all", AllAttrs(axes, keep), (data,))


def _not(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    return node.emit("logical_not", LogicalAttrs(), (data,))


def _wide(
    node: OnnxNode, data: BuiltTensor, reduce: Callable[[BuiltTensor], BuiltTensor]
) -> BuiltTensor:
    """The reduction, of narrow integers in int32."""
    found = reduce(_comparable(node, data))
    if found.dtype is data.dtype:
        return found
    return node.emit("cast", CastAttrs(), (found,), dtype=data.dtype)


def _position(op: str, attrs: type[ArgMaxAttrs] | type[ArgMinAttrs]) -> Importer:
    """The importer of ArgMax or ArgMin. The last of equal values is the first one from the end."""

    def importer(node: OnnxNode) -> BuiltTensor:
        data = node.tensor(0)
        node.expect(data, DType.FLOAT32, *_POSITIONED)
        axis = arguments.axis(node, len(data.shape), 0)
        is_last = bool(node.attr("select_last_index", 0))
        numbers = flipped(node, _comparable(node, data), (axis,) if is_last else ())
        found = node.emit(op, attrs(axis), (numbers,), dtype=DType.INT64, quant=None)
        if is_last:
            end = node.constant(np.array(data.shape[axis] - 1, np.int64), "end")
            found = binary(node, "subtract", end, found)
        keep = bool(node.attr("keepdims", 1))
        return node.reshaped(found, composing.kept(data.shape, (axis,), keep_dims=keep))

    return importer


_POSITIONED = (DType.INT8, DType.INT16, DType.INT32, DType.UINT8)


def _comparable(node: OnnxNode, data: BuiltTensor) -> BuiltTensor:
    """The data in a dtype for which extremes can be computed: int32 for integers."""
    if data.dtype in (DType.FLOAT32, DType.INT32):
        return data
    return node.emit("cast", CastAttrs(), (data,), dtype=DType.INT32, quant=None)


IMPORTERS = {
    "ArgMax": _position("argmax", ArgMaxAttrs),
    "ArgMin": _position("argmin", ArgMinAttrs),
    "ReduceL1": _reduction(_l1, DType.FLOAT32, of_nothing=0),
    "ReduceL2": _reduction(_l2, DType.FLOAT32, of_nothing=0),
    "ReduceLogSum": _reduction(_log_sum, DType.FLOAT32, of_nothing=-math.inf),
    "ReduceLogSumExp": _reduction(_log_sum_exp, DType.FLOAT32, of_nothing=-math.inf),
    "ReduceMax": _reduction(_max, *_ORDERED, shapes=np.max, of_nothing=-math.inf),
    "ReduceMean": _reduction(_mean, DType.FLOAT32, of_nothing=math.nan),
    "ReduceMin": _reduction(_min, *_ORDERED, shapes=np.min, of_nothing=math.inf),
    "ReduceProd": _reduction(_product, *_NUMBERS, shapes=np.prod, of_nothing=1),
    "ReduceSum": _reduction(_sum, *_NUMBERS, shapes=np.sum, of_nothing=0),
    "ReduceSumSquare": _reduction(_squares, *_NUMBERS, of_nothing=0),
}
