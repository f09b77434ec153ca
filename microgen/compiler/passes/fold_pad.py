"""Moves a pad with the zero point into the padding of the convolution that reads it."""

from __future__ import annotations

import dataclasses

from microgen.compiler.passes.windows import window_of
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.geometry import MOST, explicit
from microgen.graph.ops.moves.pads import PadAttrs


def fold_pad(graph: Graph) -> Graph:
    """The graph with spatial pads folded. A pad node is kept if it has other readers."""
    producers = graph.producer_of()
    return graph.replace(nodes=tuple(_folded(node, graph, producers) for node in graph.nodes))


def _folded(node: Node, graph: Graph, producers: dict[str, Node]) -> Node:
    window = window_of(node, graph)
    pad = producers.get(node.inputs[0]) if node.inputs else None
    if window is None or not window.pads_with_zero_point or pad is None:
        return node
    if not isinstance(pad.attrs, PadAttrs) or not _is_spatial_zero(pad, graph):
        return node
    if pad.place != node.place:
        return node
    (_, _), (top, bottom), (left, right), (_, _) = pad.attrs.pads
    own = explicit(window.attrs.padding)
    padding = (own[0] + top, own[1] + left, own[2] + bottom, own[3] + right)
    if max(padding) > MOST:
        return node
    attrs = dataclasses.replace(window.attrs, padding=padding)
    return dataclasses.replace(node, attrs=attrs, inputs=(pad.inputs[0], *node.inputs[1:]))


def _is_spatial_zero(pad: Node, graph: Graph) -> bool:
    """Whether the node pads only height and width, with the value that a convolution reads as 0."""
    assert isinstance(pad.attrs, PadAttrs)
    data = graph.types[pad.inputs[0]]
    return (
        len(pad.attrs.pads) == 4
        and pad.attrs.pads[0] == pad.attrs.pads[3] == (0, 0)
        and data.quant == graph.types[pad.outputs[0]].quant
        and pad.attrs.value == data.zero
    )
