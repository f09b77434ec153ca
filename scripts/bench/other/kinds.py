"""Kinds of layers, by which instructions are compared, and what each has to do."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Graph, Node
from microgen.planner.program.types import RunnerCall
from scripts.bench import macs

_FEW = 4  # input channels
_TAPS = 9  # of a usual filter


@dataclass(frozen=True)
class Layer:
    """A node of a graph: the name of its kind, its multiply-accumulates, the elements of its
    result, and the node that says more."""

    kind: str
    macs: int
    elements: int
    node: Node
    graph: Graph

    @property
    def units(self) -> int:
        """Multiply-accumulates; elements for a kind that has none."""
        return self.macs or self.elements


def of_node(node: Node, graph: Graph) -> Layer:
    """The layer of a node."""
    elements = sum(graph.types[name].size for name in node.outputs)
    products = _lstm(node, graph) if node.op == "nn.lstm" else macs.of_node(node, graph)
    name = {
        "nn.conv2d": _convolution,
        "nn.depthwise_conv2d": _depthwise,
        "nn.dense": _dense,
    }.get(node.op, lambda node, _: node.op.rpartition(".")[2])
    return Layer(name(node, graph), products, elements, node, graph)


def of_calls(calls: Sequence[RunnerCall], graph: Graph) -> Iterator[tuple[RunnerCall, Layer]]:
    """The layer of each call: of those that it computes the one with the most products, or else
    the last one. Calls that write parts of one result have its name and a number."""
    producers = {name: node for node in graph.nodes for name in node.outputs}
    for call in calls:
        names = (
            name if name in producers else name.rpartition("#")[0]
            for name in (step.tensor for step in call.steps)
        )
        found = [of_node(producers[name], graph) for name in names]
        yield call, max(reversed(found), key=lambda layer: layer.macs)


def by_kind(layers: Iterable[tuple[Layer, int]]) -> dict[str, tuple[int, int]]:
    """Units and instructions of each kind."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for layer, instructions in layers:
        sums[layer.kind][0] += layer.units
        sums[layer.kind][1] += instructions
    return {kind: (units, count) for kind, (units, count) in sorted(sums.items())}


def _convolution(node: Node, graph: Graph) -> str:
    data, weight, *_ = graph.type_of(node.inputs)
    _, high, wide, depth = weight.shape
    if depth < data.shape[3]:
        return "conv2d, grouped"
    if max(getattr(node.attrs, "dilation", (1, 1))) > 1:
        return "conv2d, dilated"
    if (high, wide) == (1, 1):
        return "conv2d 1x1"
    if depth <= _FEW:
        return "conv2d, few channels"
    if data.shape[1] == high == 1:
        return "conv2d 1-D"
    return "conv2d 3x3" if high * wide <= _TAPS else "conv2d, large filter"


def _depthwise(node: Node, graph: Graph) -> str:
    data, weight, *_ = graph.type_of(node.inputs)
    _, high, wide, depth = weight.shape
    if depth > data.shape[3]:
        return "depthwise, multiplier"
    if max(getattr(node.attrs, "dilation", (1, 1))) > 1:
        return "depthwise, dilated"
    return "depthwise 3x3" if high * wide <= _TAPS else "depthwise, large filter"


def _dense(node: Node, graph: Graph) -> str:
    output = graph.types[node.outputs[0]].shape
    return "dense, one row" if math.prod(output[:-1]) == 1 else "dense, many rows"


def _lstm(node: Node, graph: Graph) -> int:
    """The products of all gates with the data and with the state, at every step."""
    data, own, back, *_ = graph.type_of(node.inputs)
    return math.prod(data.shape[:2]) * (own.size + back.size)
