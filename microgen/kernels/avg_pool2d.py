"""Kernels for nn.avg_pool2d."""

from __future__ import annotations

import dataclasses

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.pool import kernel, kernels
from microgen.ops.avg_pool2d import AvgPool2DAttrs

OP_NAME = "nn.avg_pool2d"


def _rounding(of: base.Kernel, *, ties_upward: bool) -> base.Kernel:
    """The kernel, which refuses nodes that round halves otherwise."""

    def refusal(node: Node, graph: Graph) -> str | None:
        assert isinstance(node.attrs, AvgPool2DAttrs)
        if node.attrs.ties_upward is not ties_upward:
            return base.OtherKind("its halves are rounded otherwise")
        return of.refusal(node, graph)

    return dataclasses.replace(of, refusal=refusal)


_nearest = (*kernels("mg_avg_pool2d"), kernel("mg_avg_pool2d_s32", DType.INT32))
_upward = kernel("mg_avg_pool2d_s8_upward", DType.INT8)

KERNELS = (
    *(_rounding(one, ties_upward=False) for one in _nearest),
    _rounding(_upward, ties_upward=True),
)
