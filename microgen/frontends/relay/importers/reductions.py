"""Reductions over axes, and nn.l2_normalize, which divides by a reduction."""

from __future__ import annotations

import numpy as np

from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.choices import MaximumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.reductions.extremes import (
    ArgExtremeAttrs,
    ArgMaxAttrs,
    ArgMinAttrs,
    MaxAttrs,
    MinAttrs,
)
from microgen.graph.ops.reductions.reduction import MeanAttrs, ReductionAttrs, SumAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs

_EXTREMA = (DType.FLOAT32, DType.INT32, DType.INT8, DType.INT16)


def _reduction(op: str, attrs: type[ReductionAttrs], *accepted: DType) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        data = call.tensor(0, *accepted)
        axes = arguments.axes(call, data)
        if not axes:
            return data
        return call.emit(op, attrs(axes, call.attrs["keepdims"]), (data,))

    return importer


def _position(op: str, attrs: type[ArgExtremeAttrs]) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        data = call.tensor(0, DType.FLOAT32, DType.INT32, DType.INT8)
        if call.attrs["select_last_index"]:
            raise call.unsupported("has select_last_index", supported="the first of equal ones")
        axes, output = arguments.axes(call, data), call.output()
        if len(axes) == len(data.shape):
            data, axes = call.reshaped(data, (data.type.size,)), (0,)
        if len(axes) != 1:
            raise call.unsupported(f"has the axes {list(axes)}", supported="one axis, or all")
        positions = call.emit(op, attrs(axes[0]), (data,), dtype=output.dtype, quant=None)
        return call.reshaped(positions, output.shape)

    return importer


def _l2_normalize(call: RelayCall) -> BuiltTensor:
    """The data divided by the root of the sum of its squares, which is at least ``eps``."""
    # Source: TVM v0.14, topi/nn/l2_normalize.h.
    data = call.tensor(0, DType.FLOAT32)
    rank = len(data.shape)
    listed = call.attrs["axis"] or range(rank)
    axes = tuple(sorted({axis % rank for axis in listed}))
    product = MultiplyAttrs(Activation.NONE)
    squares = call.emit("multiply", product, (data, data), hint="squares")
    sums = call.emit("sum", SumAttrs(axes, keep_dims=True), (squares,))
    least = call.constant(np.array([call.attrs["eps"]], np.float32), "eps")
    bounded = call.emit("maximum", MaximumAttrs(), (sums, least))
    return call.emit("multiply", product, (data, call.emit("rsqrt", RsqrtAttrs(), (bounded,))))


IMPORTERS = {
    "sum": _reduction("sum", SumAttrs, DType.FLOAT32, DType.INT32),
    "mean": _reduction("mean", MeanAttrs, DType.FLOAT32),
    "max": _reduction("max", MaxAttrs, *_EXTREMA),
    "min": _reduction("min", MinAttrs, *_EXTREMA),
    "argmax": _position("argmax", ArgMaxAttrs),
    "argmin": _position("argmin", ArgMinAttrs),
    "nn.l2_normalize": _l2_normalize,
}
