"""The parameters that both pooling kernels take."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.ops.avg_pool2d import AvgPool2DAttrs
from microgen.ops.geometry import resolve
from microgen.ops.max_pool2d import MaxPool2DAttrs


def params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_avg_pool2d_s8_params`` and ``mg_max_pool2d_s8_params``."""
    attrs = node.attrs
    assert isinstance(attrs, AvgPool2DAttrs | MaxPool2DAttrs)
    inputs, output = base.types(node, graph)
    data = inputs[0].shape
    pads = resolve(attrs.padding, base.spatial(inputs[0]), attrs.pool_size, attrs.strides, (1, 1))
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
        ("pad_top", pads[0]),
        ("pad_left", pads[1]),
        *base.activation_fields(attrs.activation, output),
    )
