"""How a node's output channels depend on its input channels, for nodes that compute each channel
by itself. The channels of a tensor are its last axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, ArrayType, Graph, Node
from microgen.graph.ops import BY_ELEMENT
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.moves.layouts import ConcatenateAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.reductions.reduction import MeanAttrs


@dataclass(frozen=True, slots=True)
class Link:
    """An input from whose channels the output's channels are computed.

    Channel i of the output is computed from channel ``source[i]`` of the input at ``position``; if
    that is -1, from no channel of this input. ``is_tied``: each channel of the input is the source
    of at least one channel of the output. The output must have either all channels with the same
    source or none of them. An input that is not tied is broadcast.
    """

    position: int
    source: Array
    is_tied: bool = True


def width(kind: ArrayType) -> int:
    """The number of channels of a tensor; 1 if it has no axis."""
    return kind.shape[-1] if kind.shape else 1


def links(node: Node, graph: Graph) -> tuple[Link, ...]:
    """The links of a node, or none if it does not compute each channel by itself."""
    rule = _RULES.get(node.op)
    kinds = graph.type_of((*node.inputs, *node.outputs))
    if rule is None or any(node.place) or not all(_is_plain(kind) for kind in kinds):
        return ()
    return rule(node, graph)


def _is_plain(kind: ArrayType) -> bool:
    """Whether the tensor has values, and one quantization for all of them."""
    return kind.size > 0 and (kind.quant is None or kind.quant.is_per_tensor)


def _elementwise(node: Node, graph: Graph) -> tuple[Link, ...]:
    count = width(graph.types[node.outputs[0]])
    found = []
    for position, kind in enumerate(graph.type_of(node.inputs)):
        is_tied = width(kind) == count
        source = np.arange(count) if is_tied else np.zeros(count, np.intp)
        found.append(Link(position, source, is_tied))
    return tuple(found)


def _first(node: Node, graph: Graph) -> tuple[Link, ...]:
    """The link of an op that keeps the channels of its first input."""
    return (Link(0, np.arange(width(graph.types[node.outputs[0]]))),)


def _pad(node: Node, graph: Graph) -> tuple[Link, ...]:
    assert isinstance(node.attrs, PadAttrs)
    # A pad of the last axis adds channels that no input has.
    return _first(node, graph) if node.attrs.pads[-1:] == ((0, 0),) else ()


def _mean(node: Node, graph: Graph) -> tuple[Link, ...]:
    assert isinstance(node.attrs, MeanAttrs)
    # A mean over the last axis mixes the channels.
    last = len(graph.types[node.inputs[0]].shape) - 1
    return () if last in node.attrs.axes else _first(node, graph)


def _view(node: Node, graph: Graph) -> tuple[Link, ...]:
    """The link of a view whose rows are one or more whole pixels of its input."""
    own, given = width(graph.types[node.outputs[0]]), width(graph.types[node.inputs[0]])
    return () if own % given else (Link(0, np.arange(own) % given),)


def _concatenate(node: Node, graph: Graph) -> tuple[Link, ...]:
    assert isinstance(node.attrs, ConcatenateAttrs)
    output, inputs = graph.types[node.outputs[0]], graph.type_of(node.inputs)
    if node.attrs.axis != len(output.shape) - 1:
        return tuple(Link(position, np.arange(width(output))) for position in range(len(inputs)))
    found, at = [], 0
    for position, kind in enumerate(inputs):
        source = np.full(width(output), -1)
        source[at : at + width(kind)] = np.arange(width(kind))
        found.append(Link(position, source))
        at += width(kind)
    return tuple(found)


def depthwise(node: Node, graph: Graph) -> tuple[Link, ...]:
    """The link of a depthwise convolution, for any other inputs."""
    assert isinstance(node.attrs, DepthwiseConv2DAttrs)
    count = width(graph.types[node.outputs[0]])
    return (Link(0, np.arange(count) // node.attrs.depth_multiplier),)


_RULES: Mapping[str, Callable[[Node, Graph], tuple[Link, ...]]] = {
    **dict.fromkeys(BY_ELEMENT, _elementwise),
    "concatenate": _concatenate,
    "lookup": _first,
    "mean": _mean,
    "nn.avg_pool2d": _first,
    "nn.max_pool2d": _first,
    "nn.pad": _pad,
    "qnn.reinterpret": _view,
    "reshape": _view,
}
