"""Kernels for nn.conv2d."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base
from microgen.ops.conv2d import Conv2DAttrs
from microgen.ops.geometry import resolve

OP_NAME = "nn.conv2d"


def _params(node: Node, graph: Graph) -> base.Fields:
    attrs = node.attrs
    assert isinstance(attrs, Conv2DAttrs)
    inputs, output = base.types(node, graph)
    data, weight = inputs[0].shape, inputs[1].shape
    pads = resolve(
        attrs.padding,
        base.spatial(inputs[0]),
        base.spatial(inputs[1]),
        attrs.strides,
        attrs.dilation,
    )
    return (
        ("batches", data[0]),
        ("input_height", data[1]),
        ("input_width", data[2]),
        ("input_channels", data[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
        ("output_channels", output.shape[3]),
        ("kernel_height", weight[1]),
        ("kernel_width", weight[2]),
        ("filter_channels", weight[3]),
        ("stride_height", attrs.strides[0]),
        ("stride_width", attrs.strides[1]),
        ("dilation_height", attrs.dilation[0]),
        ("dilation_width", attrs.dilation[1]),
        ("pad_top", pads[0]),
        ("pad_left", pads[1]),
        *base.offsets(inputs[0], output),
        *base.activation_fields(attrs.activation, output),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    channels = graph.types[node.outputs[0]].shape[3]
    return base.weights_and_tables(node, graph, "conv", channels)


KERNELS = (
    base.Kernel(
        symbol="mg_conv2d_s8",
        needs=base.REFERENCE,
        refusal=base.constant_weights,
        params=_params,
        constants=_constants,
    ),
)
