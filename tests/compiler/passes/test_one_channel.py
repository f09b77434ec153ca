"""Depthwise convolutions of one channel become convolutions, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.compiler.passes.one_channel import one_channel
from microgen.graph.ir import verify
from microgen.graph.ir.graph import Graph
from microgen.graph.ir.interpreter import evaluate
from microgen.graph.ops import registry
from tests.support.graphs import Builder


def _outputs(graph: Graph) -> list[bytes]:
    rng = np.random.default_rng(7)
    inputs = {
        name: rng.integers(-128, 128, graph.types[name].shape).astype(np.int8)
        for name in graph.inputs
    }
    values = evaluate(graph, inputs, registry())
    return [values[name].tobytes() for name in graph.outputs]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("multiplier", [2, 5, 8])
def test_a_convolution_computes_what_the_depthwise_one_did(multiplier: int, padding: str) -> None:
    b = Builder()
    name = b.depthwise(b.input(1, 9, 7, 1), multiplier=multiplier, padding=padding)  # type: ignore[arg-type]
    graph = b.graph(name)
    after = one_channel(graph)
    verify.check(after, registry())
    (before_node,), (node,) = graph.nodes, after.nodes
    assert node.op == "nn.conv2d"
    assert (node.outputs, node.origin) == (before_node.outputs, before_node.origin)
    weight = after.types[node.inputs[1]]
    assert weight.shape == (multiplier, *graph.types[before_node.inputs[1]].shape[1:3], 1)
    assert weight.quant is not None
    assert weight.quant.axis == 0
    assert len(set(weight.quant.scale)) > 1  # a scale of another filter would be seen
    assert _outputs(after) == _outputs(graph)


def test_several_channels_stay_depthwise() -> None:
    b = Builder()
    graph = b.graph(b.depthwise(b.input(1, 6, 6, 3), multiplier=2))
    assert one_channel(graph).nodes == graph.nodes


def test_a_single_filter_stays_depthwise() -> None:
    b = Builder()
    graph = b.graph(b.depthwise(b.input(1, 6, 6, 1)))
    assert one_channel(graph).nodes == graph.nodes
