"""Kernels for nn.avg_pool2d."""

from __future__ import annotations

import dataclasses

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.pool import kernel
from microgen.ops.avg_pool2d import AvgPool2DAttrs

OP_NAME = "nn.avg_pool2d"


def _int8(symbol: str, constant: str, *, ties_upward: bool) -> base.Kernel:
    """The kernel that rounds halves so."""

    def refusal(node: Node, graph: Graph) -> str | None:
        assert isinstance(node.attrs, AvgPool2DAttrs)
        why = base.only(DType.INT8)(node, graph)
        if why is None and node.attrs.ties_upward is not ties_upward:
            return base.Mismatch(base.Trait.ARITHMETIC, "its halves are rounded otherwise")
        return why

    made = kernel(symbol, DType.INT8)
    return dataclasses.replace(
        made, refusal=refusal, family="avg_pool2d_s8", variant=(constant,), loop="mg_avg_pool2d_s8"
    )


KERNELS = (
    _int8("mg_avg_pool2d_s8", "MG_ROUND_NEAREST", ties_upward=False),
    _int8("mg_avg_pool2d_s8_upward", "MG_ROUND_UPWARD", ties_upward=True),
    kernel("mg_avg_pool2d_s16", DType.INT16),
    kernel("mg_avg_pool2d_f32", DType.FLOAT32),
    kernel("mg_avg_pool2d_s32", DType.INT32),
)
