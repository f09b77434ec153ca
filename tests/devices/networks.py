"""Small networks whose nodes are spread over targets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import ArrayType, DType, Graph, Node, Origin
from microgen.graph.ops.division.divide import DivideAttrs
from tests.support.graphs import Builder

NPU = "npu0:device-api"
BOTH = ("npu0:device-api", "npu1:device-api")


def placed(graph: Graph, places: Sequence[str]) -> Graph:
    """The graph with each node on its place: ``target`` or ``target/function``."""
    assert len(places) == len(graph.nodes)
    nodes = []
    for node, place in zip(graph.nodes, places, strict=True):
        target, _, function = place.partition("/")
        nodes.append(dataclasses.replace(node, target=target, function=function))
    return graph.replace(nodes=tuple(nodes))


def chain(*places: str) -> Graph:
    """A chain of one convolution on each place, int8 [1,3,3,2]; only weights differ."""
    b = Builder()
    data = b.input(1, 3, 3, 2)
    for _ in places:
        data = b.conv(data, 2)
    return placed(b.graph(data), places)


def dividing(*places: str) -> Graph:
    """int32 [4]: x / y on the first place, divided by y again on the next, and so on.

    Without an input file the divisor is zero, so the first operator fails.
    """
    kind = ArrayType((4,), DType.INT32)
    nodes, data = [], "x"
    types = {"x": kind, "y": kind}
    for i, place in enumerate(places):
        out = f"q{i}"
        origin = Origin("test", out)
        attrs = DivideAttrs(Activation.NONE, shifts_wrap=False)
        nodes.append(Node("divide", (data, "y"), (out,), attrs, origin, target=place))
        types[out] = kind
        data = out
    return Graph("test", ("x", "y"), (data,), tuple(nodes), types, {})
