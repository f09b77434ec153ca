"""Kernels for nn.avg_pool2d."""

from __future__ import annotations

import dataclasses

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.kernels import base
from microgen.kernels.elementwise import in_float32
from microgen.kernels.pooling import window_mean
from microgen.kernels.pooling.pool import kernel
from microgen.kernels.reductions import mean_in_float32

OP_NAME = "nn.avg_pool2d"


def _rounding(of: base.Implementation, *, ties_upward: bool = False) -> base.Implementation:
    """The kernel, which refuses nodes that round halves otherwise."""

    def refusal(node: Node, graph: Graph) -> str | None:
        assert isinstance(node.attrs, AvgPool2DAttrs)
        why = of.refusal(node, graph) or _rows_refusal(node, graph)
        if why is None and node.attrs.ties_upward is not ties_upward:
            return base.Mismatch(base.Trait.ARITHMETIC, "its halves are rounded otherwise")
        return why

    return dataclasses.replace(of, refusal=refusal)


def _rows_refusal(node: Node, graph: Graph) -> str | None:
    """Refusal of rows of a window, of which only ``window_mean.ROWS`` keeps the sums."""
    return "the input has not all rows of a window" if window_mean.is_part(node, graph) else None


def _int8(symbol: str, requantization: str) -> base.Implementation:
    """A kernel of ``avg_pool2d_s8.h``, whose body takes this constant."""
    made = kernel(symbol, DType.INT8)
    loop = "mg_avg_pool2d_s8"
    return dataclasses.replace(made, family=loop[3:], variant=(requantization,), loop=loop)


def _in_float32() -> base.Implementation:
    """The kernel of ``avg_pool2d_in_float_s8.h``, which has further fields."""
    made = kernel("mg_avg_pool2d_in_float_s8", DType.INT8)

    def params(node: Node, graph: Graph) -> base.Fields:
        (data,), output = base.types(node, graph)
        scales = (("input_scale", data.scale), ("output_scale", output.scale))
        return (*made.params(node, graph), *base.offsets(data, output), *scales)

    def refusal(node: Node, graph: Graph) -> str | None:
        return made.refusal(node, graph) or _rows_refusal(node, graph)

    return dataclasses.replace(made, params=params, refusal=refusal)


_SPECIFIED = (
    _rounding(_int8("mg_avg_pool2d_s8", "MG_ROUND_NEAREST")),
    _rounding(_int8("mg_avg_pool2d_s8_upward", "MG_ROUND_UPWARD"), ties_upward=True),
    _rounding(kernel("mg_avg_pool2d_s16", DType.INT16)),
    _rounding(kernel("mg_avg_pool2d_f32", DType.FLOAT32)),
    _rounding(kernel("mg_avg_pool2d_s32", DType.INT32)),
)
IMPLEMENTATIONS = (
    *window_mean.KERNELS,
    window_mean.ROWS,
    mean_in_float32.KERNEL,
    *map(in_float32.without, _SPECIFIED),
    in_float32.only(_in_float32()),
)
