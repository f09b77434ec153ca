"""The kernels of both poolings, one for each dtype."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.geometry import explicit
from microgen.graph.ops.pooling.pooling import PoolAttrs
from microgen.kernels import base, lags


def _params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_pool_params`` and ``mg_pool_f32_params``."""
    attrs = node.attrs
    assert isinstance(attrs, PoolAttrs)
    inputs, output = base.types(node, graph)
    data = inputs[0].shape
    top, left, _, _ = explicit(attrs.padding)
    return (
        ("batches", data[0]),
        ("input_height", data[1]),
        ("input_width", data[2]),
        ("channels", data[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
        ("pool_height", attrs.pool_size[0]),
        ("pool_width", attrs.pool_size[1]),
        ("stride_height", attrs.strides[0]),
        ("stride_width", attrs.strides[1]),
        ("pad_top", top),
        ("pad_left", left),
        *base.activation_fields(attrs.activation, output),
    )


def kernel(symbol: str, dtype: DType) -> base.Implementation:
    """The kernel of one dtype."""
    return base.Implementation(
        symbol, base.REFERENCE, base.only(dtype), _params, in_place=lags.of_depthwise_ones
    )


def kernels(stem: str) -> tuple[base.Implementation, ...]:
    """``<stem>_s8``, ``_s16`` and ``_f32``."""
    return (
        kernel(f"{stem}_s8", DType.INT8),
        kernel(f"{stem}_s16", DType.INT16),
        kernel(f"{stem}_f32", DType.FLOAT32),
    )
