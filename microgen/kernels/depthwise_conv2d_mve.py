"""Kernels for nn.depthwise_conv2d whose windows are vectors of MVE."""

from __future__ import annotations

from microgen.ir.graph import Graph, Node
from microgen.kernels import base, weighted
from microgen.kernels.depthwise_conv2d import LAYER
from microgen.kernels.weighted import TWICE_NARROW, Loop
from microgen.ops.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.ops.geometry import resolve

OP_NAME = "nn.depthwise_conv2d"
RING = 4  # MG_MVE_RING of microgen/depthwise_conv2d_s8_ring_mve.h
CHANNELS = 8  # MG_MVE_CHANNELS
_VECTOR = 16
_STRIDES = ((1, 1), (2, 2))
_OFFSETS = 2**16  # bytes that vectors of 16-bit offsets reach


def _refuses(node: Node, graph: Graph) -> str | None:
    """Refusal unless a window is a vector."""
    attrs = node.attrs
    assert isinstance(attrs, DepthwiseConv2DAttrs)
    data, weight = graph.type_of(node.inputs[:2])
    kernel = base.spatial(weight)
    if max(kernel) > RING or attrs.dilation != (1, 1):
        return f"a filter reaches beyond {RING}x{RING} values"
    if attrs.strides not in _STRIDES:
        return f"its strides are {attrs.strides}, the kernel takes {_STRIDES}"
    if weight.shape[3] != data.shape[3]:
        return "each input channel has several filters, the kernel computes one"
    pads = resolve(attrs.padding, base.spatial(data), kernel, attrs.strides, attrs.dilation)
    if any(pad >= size for pad, size in zip(pads[:2], kernel, strict=True)):
        return "windows are all padding"
    if CHANNELS * _line(node, graph) > _OFFSETS:
        return "its lines are too long"
    return None


def _line(node: Node, graph: Graph) -> int:
    """Bytes of a channel's line, see mg_mve_ring_line."""
    attrs = node.attrs
    assert isinstance(attrs, DepthwiseConv2DAttrs)
    height, width = base.spatial(graph.types[node.outputs[0]])
    windows = max(height, width) // 4 * 4 + 4
    return ((windows - 1) * attrs.strides[0] + RING) * RING


def _scratch(node: Node, graph: Graph) -> int:
    """The scratch of mg_depthwise_conv2d_s8_ring_mve in bytes: filters and lines."""
    return CHANNELS * (_VECTOR + _line(node, graph))


_RING = weighted.vectors(
    Loop(stem="depthwise_conv2d_s8_ring", refusal=_refuses, scratch=_scratch, is_raw=True)
)

IMPLEMENTATIONS = tuple(LAYER.kernels((_RING,), (TWICE_NARROW,)))
