"""Kernels of int8 means over one window, of which they get a few rows at a time, or all.

Sums are in the scratch between the calls. The mean is a multiplication that was proven, as in
``window_mean``, or what the reference says.
"""

from __future__ import annotations

import dataclasses

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.pooling.pooling import AvgPool2DAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs, mean_parameters
from microgen.kernels import base
from microgen.kernels.elementwise import in_float32
from microgen.kernels.pooling import window_mean
from microgen.kernels.requantization import proven
from microgen.kernels.work import Work

_SUM = 2  # bytes


def _rows_refusal(node: Node, graph: Graph) -> str | None:
    return _rows_shape_refusal(node, graph) or window_mean.value_refusal(node, graph)


def _rows_shape_refusal(node: Node, graph: Graph) -> str | None:
    refusal = base.only(DType.INT8)(node, graph)
    if refusal or window_mean.is_part(node, graph):
        return refusal
    attrs, data = node.attrs, graph.types[node.inputs[0]]
    if isinstance(attrs, MeanAttrs):
        return "the input has all rows of the window"
    assert isinstance(attrs, AvgPool2DAttrs)
    if data.shape[0] > 1 or attrs.pool_size != base.spatial(data):
        return "the window is not the whole input"
    return window_mean.clipped(attrs, node, graph)


def _rows_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_pool_mean_s8_rows_params``."""
    return (*window_mean.sizes(node, graph), *proven.fields(window_mean.affine_of(node, graph)))


def _exact_refusal(node: Node, graph: Graph) -> str | None:
    refusal = _rows_shape_refusal(node, graph)
    if refusal is None and window_mean.mean_of(node, graph).count > window_mean.MOST:
        return f"a window has more than {window_mean.MOST} values, the kernel has sums of int16"
    return refusal


def _scaled_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_mean_s8_rows_params``."""
    (data,), output = base.types(node, graph)
    count = window_mean.mean_of(node, graph).count
    scale = mean_parameters(data, output, count)
    return (
        *window_mean.sizes(node, graph),
        ("bias", -data.zero_point * count),
        *base.scale_fields((scale.multiplier, scale.shift)),
        ("output_offset", output.zero_point),
        *base.activation_fields(Activation.NONE, output),
    )


def _sums(node: Node, graph: Graph) -> int:
    """Bytes of a sum of each channel, and of the number of rows. A window has up to 256 values, so
    sums fit int16."""
    return _SUM * (graph.types[node.inputs[0]].shape[3] + 1)


def _rows_work(node: Node, graph: Graph) -> Work:
    """Parts of its loops: for each block of channels, taps. Means are computed once in all calls
    for the rows of a window."""
    height = dict(window_mean.sizes(node, graph))["pool_height"]
    _, rows, width, channels = graph.types[node.inputs[0]].shape
    blocks, left = divmod(channels, 4)
    pixels = rows * width
    counts = {"mean_4": blocks, "mean_1": left, "tap_4": blocks * pixels, "tap_1": left * pixels}
    means = channels * rows // height
    return {"call": 1, "output": means, **counts}


def _float_rows_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_mean_in_float_s8_rows_params``."""
    return window_mean.float_fields(node, graph, window_mean.sizes(node, graph))


_SCALED = base.Implementation(
    symbol="mg_mean_s8_rows",
    family="pool_mean_s8_rows",
    refusal=_exact_refusal,
    params=_scaled_params,
    scratch=_sums,
    work=_rows_work,
)
_PROVEN = dataclasses.replace(
    _SCALED,
    symbol="mg_pool_mean_s8_rows",
    refusal=_rows_refusal,
    params=_rows_params,
    constants=window_mean.constants,
)
_IN_FLOAT32 = dataclasses.replace(
    _SCALED, symbol="mg_mean_in_float_s8_rows", params=_float_rows_params
)
# The means of some rows at a time: by a multiplication that was proven, or as the reference says.
ROWS = _PROVEN, in_float32.only(_IN_FLOAT32)
SCALED_ROWS = in_float32.without(_SCALED)
