"""Makes convolutions of depthwise ones that have a single channel of input."""

from __future__ import annotations

import dataclasses

from microgen.compiler.passes.changes import Changes
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs

_FROM_HWC = (3, 1, 2, 0)  # 1HWC to OHW1


def one_channel(graph: Graph) -> Graph:
    """The graph in which each depthwise convolution of one channel with several filters is a
    convolution.

    Both compute the same sums in the same order. TensorFlow's converter writes convolutions of
    images and spectrograms with one channel as depthwise ones, whose kernels expect as many
    channels as filters: those of convolutions read each input value once for several filters.
    """
    changes = Changes(graph)
    for node in graph.nodes:
        if isinstance(node.attrs, DepthwiseConv2DAttrs) and _is_plain(node, graph):
            changes.changed[node.outputs[0]] = _convolution(node, node.attrs, changes)
    return changes.made()


def _is_plain(node: Node, graph: Graph) -> bool:
    data, weight, *_ = node.inputs
    # A computed weight would need a transpose in the firmware, and weights that the model stores
    # in fewer bytes would not be recognised any more.
    is_constant = weight in graph.constants and weight not in graph.int4 | graph.stored.keys()
    return is_constant and graph.types[data].shape[3] == 1 and graph.types[weight].shape[3] > 1


def _convolution(node: Node, attrs: DepthwiseConv2DAttrs, changes: Changes) -> Node:
    data, weight, *bias = node.inputs
    kind, values = changes.types[weight], changes.constants[weight]
    quant = kind.quant
    if quant is not None and quant.axis is not None:
        quant = dataclasses.replace(quant, axis=_FROM_HWC.index(quant.axis))
    values = values.transpose(_FROM_HWC)
    kind = dataclasses.replace(kind, shape=values.shape, quant=quant)
    window = (attrs.strides, attrs.dilation, attrs.padding, attrs.activation, attrs.rounding)
    filters = changes.constant(f"{weight}#filters", values, kind)
    return dataclasses.replace(
        node, op="nn.conv2d", attrs=Conv2DAttrs(*window), inputs=(data, filters, *bias)
    )
