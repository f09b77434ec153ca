"""qnn.conv2d and qnn.dense: int32 sums of products, which a qnn.requantize may scale."""

from __future__ import annotations

from collections.abc import Callable

from microgen.frontends.quantization import reinterpreted
from microgen.frontends.relay import quantization
from microgen.frontends.relay.calls import Importer, RelayCall
from microgen.frontends.relay.importers.convolution import conv2d_sums, dense_sums
from microgen.frontends.sums import Sums
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType, Quant


def _product(sums_of: Callable[[RelayCall, Tensor], Sums]) -> Importer:
    """The importer of a product of int8 data and symmetric int8 weights. The scales of the call
    are not used, because they do not change its sums.

    Source: TVM v0.14, src/relay/qnn/op/convolution.cc, QnnConv2DCanonicalize; dense.cc.
    """

    def importer(call: RelayCall) -> Tensor:
        for position in (0, 1):
            call.expect(call.tensor(position), DType.INT8)
        dtype = quantization.output(call, (DType.INT32,))
        if quantization.values(call, 3).any():
            raise call.unsupported("has weights with a zero point", supported="zero point 0")
        return call.emit_sums(quantization.integer_sums(call, sums_of(call, _data(call)), dtype))

    return importer


def _data(call: RelayCall) -> Tensor:
    """The data with the call's zero point and any scale."""
    data = call.tensor(0)
    zero_points, (scale, *_) = quantization.values(call, 2), quantization.values(call, 4)
    if zero_points.size != 1:
        raise call.unsupported(f"has {zero_points.size} input_zero_points", supported="one")
    zero_point = int(zero_points[0])
    if data.type.zero_point == zero_point:
        return data
    return reinterpreted(call, data, Quant((float(scale),), (zero_point,)))


IMPORTERS = {"qnn.conv2d": _product(conv2d_sums), "qnn.dense": _product(dense_sums)}
