"""nn.l2_normalize."""

from __future__ import annotations

import numpy as np

from microgen.frontends.relay.calls import RelayCall
from microgen.frontends.tensors import Tensor
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType
from microgen.graph.ops.elementwise.extremum import MaximumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.reductions.reduction import SumAttrs
from microgen.graph.ops.unary.roots import RsqrtAttrs


def _l2_normalize(call: RelayCall) -> Tensor:
    """The data divided by the root of the sum of its squares, which is at least ``eps``.

    Source: TVM v0.14, topi/nn/l2_normalize.h.
    """
    data = call.tensor(0)
    call.expect(data, DType.FLOAT32)
    rank = len(data.shape)
    listed = call.attrs["axis"] or range(rank)
    axes = tuple(sorted({axis % rank for axis in listed}))
    product = MultiplyAttrs(Activation.NONE)
    squares = call.emit("multiply", product, (data, data), hint="squares")
    sums = call.emit("sum", SumAttrs(axes, keep_dims=True), (squares,))
    least = call.constant(np.array([call.attrs["eps"]], np.float32), "eps")
    bounded = call.emit("maximum", MaximumAttrs(), (sums, least))
    return call.emit("multiply", product, (data, call.emit("rsqrt", RsqrtAttrs(), (bounded,))))


IMPORTERS = {"nn.l2_normalize": _l2_normalize}
