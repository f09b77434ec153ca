"""qnn.add, qnn.subtract, qnn.mul, qnn.concatenate."""

from __future__ import annotations

from microgen.frontends.quantization import reinterpreted
from microgen.frontends.relay import quantization
from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers import arguments
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType, Quant
from microgen.graph.ops.elementwise.rescaled import (
    RescaledAddAttrs,
    RescaledAttrs,
    RescaledMultiplyAttrs,
    RescaledSubtractAttrs,
)
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.quantization.rescale import RescaleAttrs


def _binary(op: str, attrs: type[RescaledAttrs]) -> Importer:
    def importer(call: RelayCall) -> Tensor:
        inputs = (call.tensor(0), call.tensor(1))
        for tensor in inputs:
            call.expect(tensor, DType.INT8)
        lhs, rhs, to = (quantization.quant(call, position) for position in (2, 4, 6))
        node = attrs(*_pair(lhs), *_pair(rhs), *_pair(to), quantization.DEFAULT)
        return call.emit(op, node, inputs, quant=to)

    return importer


def _pair(of: Quant) -> tuple[float, int]:
    return of.scale[0], of.zero_point[0]


def _concatenate(call: RelayCall) -> Tensor:
    """Source: TVM v0.14, src/relay/qnn/op/concatenate.cc, ConcatenateQnnCanonicalize."""
    data, scales, zero_points = (call.tensors(i) for i in range(3))
    to = quantization.quant(call, 3)
    parts = [
        _rescaled(call, part, _constants(call, scale, zero_point), to)
        for part, scale, zero_point in zip(data, scales, zero_points, strict=True)
    ]
    axis = arguments.axis(call, data[0])
    return call.emit("concatenate", ConcatenateAttrs(axis), parts)


def _constants(call: RelayCall, scale: Tensor, zero_point: Tensor) -> Quant:
    if scale.value is None or zero_point.value is None:
        raise call.unsupported("has a scale or zero point that is computed", supported="constants")
    return quantization.of_values(call, scale.value.reshape(-1), zero_point.value.reshape(-1))


def _rescaled(call: RelayCall, part: Tensor, of: Quant, to: Quant) -> Tensor:
    call.expect(part, DType.INT8)
    if of == to:
        return reinterpreted(call, part, to)
    attrs = RescaleAttrs(0, *_pair(of), *_pair(to), quantization.DEFAULT)
    return call.emit("qnn.rescale", attrs, (part,), quant=to)


IMPORTERS = {
    "qnn.add": _binary("qnn.add", RescaledAddAttrs),
    "qnn.subtract": _binary("qnn.subtract", RescaledSubtractAttrs),
    "qnn.mul": _binary("qnn.mul", RescaledMultiplyAttrs),
    "qnn.concatenate": _concatenate,
}
