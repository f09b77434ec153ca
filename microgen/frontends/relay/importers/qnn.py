"""Operators of qnn.*."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from microgen.base.errors import UnsupportedError
from microgen.frontends.quantization import STORED, reinterpreted
from microgen.frontends.relay import qnn_scales
from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.frontends.relay.importers.convolution import conv2d_sums, dense_sums
from microgen.frontends.sums import PendingSums
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, Attrs, DType, Quant
from microgen.graph.ops.elementwise.rescaled import (
    RescaledAddAttrs,
    RescaledAttrs,
    RescaledMultiplyAttrs,
    RescaledSubtractAttrs,
)
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.quantization.conversions import DequantizeAttrs, QuantizeAttrs
from microgen.graph.ops.quantization.rescale import RescaleAttrs


def _quantize(call: RelayCall) -> BuiltTensor:
    # Source: TVM v0.14, src/relay/qnn/op/quantize.cc, QuantizeLower.
    dtype, of = qnn_scales.output(call), qnn_scales.quant(call, 1)
    data = call.tensor(0)
    quantized = call.emit("qnn.quantize", QuantizeAttrs(), (data,), dtype=dtype, quant=of)
    return reinterpreted(call, quantized, qnn_scales.of_dtype(dtype, of))


def _dequantize(call: RelayCall) -> BuiltTensor:
    # Source: TVM v0.14, src/relay/qnn/op/dequantize.cc, DequantizeLower.
    data = call.tensor(0, *STORED)
    dtype = qnn_scales.output(call, (DType.FLOAT32,))
    data = reinterpreted(call, data, qnn_scales.quant(call, 1))
    return call.emit("qnn.dequantize", DequantizeAttrs(), (data,), dtype=dtype, quant=None)


@dataclasses.dataclass(frozen=True, slots=True)
class _Scaling:
    """The arguments of a qnn.requantize."""

    scales: Array  # of the input: one, or one per index of ``axis``
    zero_point: int  # of the input
    axis: int
    to: Quant  # of the result
    dtype: DType  # of the result
    rounding: Rounding

    @property
    def attrs(self) -> RescaleAttrs:
        """The attributes of a separate node."""
        (scale,), (zero_point,) = self.to.scale, self.to.zero_point
        one = float(self.scales[0]) if self.scales.size == 1 else None
        return RescaleAttrs(self.axis, one, self.zero_point, scale, zero_point, self.rounding)


def _requantize(call: RelayCall) -> BuiltTensor:
    """The convolution or dense layer that computes the input, with int8 outputs, if only this call
    reads it and a kernel exists; otherwise a separate node."""
    # Source: TVM v0.14, src/relay/qnn/op/requantize.cc, RequantizeLowerInt.
    data = call.tensor(0, *STORED)
    scaling = _scaling(call)
    fused = _fused(call, call.sums_of(data), scaling)
    if fused is not None:
        return fused
    is_one = scaling.scales.size == 1
    inputs = (data,) if is_one else (data, call.constant(scaling.scales, "scales"))
    quant = qnn_scales.of_dtype(scaling.dtype, scaling.to)
    return call.emit("qnn.rescale", scaling.attrs, inputs, dtype=scaling.dtype, quant=quant)


def _scaling(call: RelayCall) -> _Scaling:
    zero_points = qnn_scales.values(call, 2)
    if np.unique(zero_points).size != 1:
        raise call.unsupported("has different input_zero_points", supported="equal ones")
    scales = qnn_scales.values(call, 1)
    return _Scaling(
        scales,
        int(zero_points[0]),
        arguments.axis(call, call.tensor(0)) if scales.size > 1 else 0,
        qnn_scales.quant(call, 3),
        qnn_scales.output(call),
        qnn_scales.rounding(call),
    )


def _fused(call: RelayCall, sums: PendingSums | None, scaling: _Scaling) -> BuiltTensor | None:
    """The layer with int8 outputs, or None."""
    if sums is None or sums.weight.value is None or not _is_fusible(sums, scaling):
        return None
    attrs: Attrs = dataclasses.replace(sums.attrs, rounding=scaling.rounding)  # type: ignore[call-arg]
    # The data has plain numbers, so the scales of the sums are the scales of the weight.
    weight = call.constant(sums.weight.value, "weight", _weight_quant(sums, scaling))
    scaled = dataclasses.replace(
        sums, attrs=attrs, weight=weight, dtype=DType.INT8, quant=scaling.to
    )
    try:
        return call.emit_sums(scaled)
    except UnsupportedError:  # for example a scale that int8 kernels cannot represent
        return None


def _is_fusible(sums: PendingSums, scaling: _Scaling) -> bool:
    return (
        sums.dtype is DType.INT32
        and scaling.dtype is DType.INT8
        and scaling.zero_point == 0
        and (sums.bias is None or sums.bias.value is not None)
        and (scaling.scales.size == 1 or scaling.axis == sums.axis)
    )


def _weight_quant(sums: PendingSums, scaling: _Scaling) -> Quant:
    count = scaling.scales.size
    axis = sums.weight_axis if count > 1 else None
    return Quant(tuple(map(float, scaling.scales)), (0,) * count, axis)


def _binary(op: str, attrs: type[RescaledAttrs]) -> Importer:
    def importer(call: RelayCall) -> BuiltTensor:
        inputs = (call.tensor(0, DType.INT8), call.tensor(1, DType.INT8))
        lhs, rhs, to = (qnn_scales.quant(call, position) for position in (2, 4, 6))
        node = attrs(*_pair(lhs), *_pair(rhs), *_pair(to), qnn_scales.DEFAULT)
        return call.emit(op, node, inputs, quant=to)

    return importer


def _pair(of: Quant) -> tuple[float, int]:
    return of.scale[0], of.zero_point[0]


def _concatenate(call: RelayCall) -> BuiltTensor:
    # Source: TVM v0.14, src/relay/qnn/op/concatenate.cc, ConcatenateQnnCanonicalize.
    data, scales, zero_points = (call.tensors(i) for i in range(3))
    to = qnn_scales.quant(call, 3)
    parts = [
        _rescaled(call, part, _constants(call, scale, zero_point), to)
        for part, scale, zero_point in zip(data, scales, zero_points, strict=True)
    ]
    axis = arguments.axis(call, data[0])
    return call.emit("concatenate", ConcatenateAttrs(axis), parts)


def _constants(call: RelayCall, scale: BuiltTensor, zero_point: BuiltTensor) -> Quant:
    if scale.value is None or zero_point.value is None:
        raise call.unsupported("has a scale or zero point that is computed", supported="constants")
    return qnn_scales.of_values(call, scale.value.reshape(-1), zero_point.value.reshape(-1))


def _rescaled(call: RelayCall, part: BuiltTensor, of: Quant, to: Quant) -> BuiltTensor:
    call.expect(part, DType.INT8)
    if of == to:
        return reinterpreted(call, part, to)
    attrs = RescaleAttrs(0, *_pair(of), *_pair(to), qnn_scales.DEFAULT)
    return call.emit("qnn.rescale", attrs, (part,), quant=to)


def _product(sums_of: Callable[[RelayCall, BuiltTensor], PendingSums]) -> Importer:
    """The importer of a product of int8 data and symmetric int8 weights."""
    # Source: TVM v0.14, src/relay/qnn/op/convolution.cc, QnnConv2DCanonicalize; dense.cc.

    def importer(call: RelayCall) -> BuiltTensor:
        for position in (0, 1):
            call.tensor(position, DType.INT8)
        dtype = qnn_scales.output(call, (DType.INT32,))
        if qnn_scales.values(call, 3).any():
            raise call.unsupported("has weights with a zero point", supported="zero point 0")
        # The scales of the call are not used, because they do not change its sums.
        return call.emit_sums(qnn_scales.integer_sums(call, sums_of(call, _data(call)), dtype))

    return importer


def _data(call: RelayCall) -> BuiltTensor:
    """The data with the call's zero point. The scale is arbitrary, because the sums are plain
    integers."""
    # The integer sums depend on the zero point only, so data that has it already keeps its scale.
    data = call.tensor(0)
    zero_points, (scale, *_) = qnn_scales.values(call, 2), qnn_scales.values(call, 4)
    if zero_points.size != 1:
        raise call.unsupported(f"has {zero_points.size} input_zero_points", supported="one")
    zero_point = int(zero_points[0])
    if data.type.zero_point == zero_point:
        return data
    return reinterpreted(call, data, Quant((float(scale),), (zero_point,)))


IMPORTERS = {
    "qnn.quantize": _quantize,
    "qnn.dequantize": _dequantize,
    "qnn.requantize": _requantize,
    "qnn.add": _binary("qnn.add", RescaledAddAttrs),
    "qnn.subtract": _binary("qnn.subtract", RescaledSubtractAttrs),
    "qnn.mul": _binary("qnn.mul", RescaledMultiplyAttrs),
    "qnn.concatenate": _concatenate,
    "qnn.conv2d": _product(conv2d_sums),
    "qnn.dense": _product(dense_sums),
}
