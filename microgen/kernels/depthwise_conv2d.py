"""Kernels for nn.depthwise_conv2d."""

from __future__ import annotations

import functools

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, blocks, mve, window

OP_NAME = "nn.depthwise_conv2d"


def _params(node: Node, graph: Graph) -> base.Fields:
    inputs, output = base.types(node, graph)
    data, weight = inputs[0].shape, inputs[1].shape
    return (
        ("batches", data[0]),
        ("input_height", data[1]),
        ("input_width", data[2]),
        ("input_channels", data[3]),
        ("output_height", output.shape[1]),
        ("output_width", output.shape[2]),
        ("depth_multiplier", output.shape[3] // data[3]),
        ("kernel_height", weight[1]),
        ("kernel_width", weight[2]),
        *window.fields(node, graph),
    )


def _constants(node: Node, graph: Graph) -> tuple[base.KernelConstant, ...]:
    channels = graph.types[node.outputs[0]].shape[3]
    return base.weights_and_tables(node, graph, "conv", channels)


_narrowed = blocks.narrowed(_constants)

KERNELS = (
    base.Kernel(
        symbol="mg_depthwise_conv2d_s8_mve",
        needs=mve.NEEDS,
        refusal=mve.depthwise,
        params=_params,
        constants=_constants,
        scratch=mve.depthwise_tables,
    ),
    *blocks.variants("mg_depthwise_conv2d_s8", blocks.depthwise, _params, _narrowed),
    base.Kernel(
        symbol="mg_depthwise_conv2d_s8",
        needs=base.REFERENCE,
        refusal=functools.partial(base.constant_weights, axis=3),
        params=_params,
        constants=_constants,
    ),
)
