"""Kernel of int8 means over windows inside the input, whose sums are scaled in float32."""

from __future__ import annotations

from microgen.graph.arithmetic import in_float32 as arithmetic
from microgen.graph.arithmetic.int8 import quantize_multiplier
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.kernels import base
from microgen.kernels.elementwise import in_float32
from microgen.kernels.pooling import window_mean


def _refusal(node: Node, graph: Graph) -> str | None:
    refusal = base.only(DType.INT8)(node, graph)
    if refusal is None and window_mean.is_part(node, graph):
        return "the input has not all rows of a window"
    return refusal or window_mean.shape_refusal(node, graph)


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_pool_mean_in_float_s8_params``."""
    (data,), output = base.types(node, graph)
    sizes = window_mean.geometry(node, graph)
    count = dict(sizes)["pool_height"] * dict(sizes)["pool_width"]
    scale = arithmetic.scale_of_mean(data, output, count)
    multiplier, shift = quantize_multiplier(float(scale))
    activation = getattr(node.attrs, "activation", Activation.NONE)
    return (
        *sizes,
        ("bias", -data.zero_point * count),
        ("multiplier", multiplier),
        ("shift", shift),
        ("output_offset", output.zero_point),
        *base.activation_fields(activation, output),
    )


KERNEL = in_float32.only(
    base.Implementation(
        symbol="mg_pool_mean_in_float_s8",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        work=window_mean.work_of,
        measured_as=window_mean.KERNELS[0],
    )
)
