"""Shared by the entries of the MVE kernels: their refusals and their scratch."""

from __future__ import annotations

from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.geometry import explicit
from microgen.kernels import base

_ROWS = 4  # MG_MVE_ROWS of microgen/blocks/mve.h
_POINTER = 4  # bytes: cores with MVE have addresses of 32 bits


def one_group(node: Node, graph: Graph) -> str | None:
    """Refusal of a grouped convolution."""
    data, weight = graph.type_of(node.inputs[:2])
    if weight.shape[3] != data.shape[3]:
        groups = data.shape[3] // weight.shape[3]
        return f"there are {groups} groups of channels, the kernel computes one"
    return None


def pointwise(node: Node, graph: Graph) -> str | None:
    """Refusal unless the kernel is 1x1, in one group, without padding."""
    attrs = base.attrs_of(node, Conv2DAttrs)
    kernel = base.spatial(graph.types[node.inputs[1]])
    if kernel != (1, 1):
        return f"the convolution's kernel is {kernel[0]}x{kernel[1]}, not 1x1"
    pads = explicit(attrs.padding)
    if any(pads):
        return f"the input is padded by {pads}, the kernel pads nothing"
    return one_group(node, graph)


def window_rows(node: Node, graph: Graph) -> int:
    """The scratch of mg_conv2d_s8_mve in bytes: the windows of four pixels."""
    _, height, width, channels = graph.types[node.inputs[1]].shape
    return _ROWS * height * width * channels


def depthwise(node: Node, graph: Graph) -> str | None:
    """Refusal if the sum of two products may exceed int16."""
    if (graph.constants[node.inputs[1]] == -128).any():
        return "a weight is -128: two products may leave int16"
    return None


def depthwise_tables(node: Node, graph: Graph) -> int:
    """The scratch of mg_depthwise_conv2d_s8_mve in bytes; its header describes the tables."""
    data, weight = graph.type_of(node.inputs[:2])
    inputs, outputs = data.shape[3], weight.shape[3]
    places = outputs if outputs > inputs else 0
    return _POINTER * weight.shape[1] * weight.shape[2] + 4 * outputs + inputs + places
