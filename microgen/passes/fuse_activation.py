"""Moves a clamp into the node that computes its input."""

from __future__ import annotations

import dataclasses

from microgen.arithmetic.terms import Activation
from microgen.ir.graph import Attrs, Graph, Node
from microgen.ops.clip import ClipAttrs


def fuse_activation(graph: Graph) -> Graph:
    """The graph in which a clip is fused if it only narrows the result of one other node.

    This is exact: the producer clamps its output to the same stored range, because a clip with
    equal quantization on both sides changes no scale.
    """
    producers, uses = graph.producer_of(), graph.uses_of()
    fused: dict[str, Node] = {}
    for clip in graph.nodes:
        producer = producers.get(clip.inputs[0]) if clip.inputs else None
        if producer and uses[clip.inputs[0]] == 1 and _fits(producer, clip, graph):
            fused[producer.outputs[0]] = _with_activation(producer, clip)
    gone = {out for node in fused.values() for out in node.outputs}
    nodes = tuple(
        fused.get(node.outputs[0], node)
        for node in graph.nodes
        if not (node.op == "clip" and node.outputs[0] in gone)
    )
    return graph.replace(nodes=nodes)


def _fits(producer: Node, clip: Node, graph: Graph) -> bool:
    return (
        isinstance(clip.attrs, ClipAttrs)
        and producer.place == clip.place
        and producer.op != "clip"
        and getattr(producer.attrs, "activation", None) in (Activation.NONE, Activation.UNLIMITED)
        and graph.types[clip.inputs[0]].quant == graph.types[clip.outputs[0]].quant
    )


def _with_activation(producer: Node, clip: Node) -> Node:
    assert isinstance(clip.attrs, ClipAttrs)
    attrs: Attrs = dataclasses.replace(producer.attrs, activation=clip.attrs.activation)  # type: ignore[call-arg]
    return dataclasses.replace(producer, attrs=attrs, outputs=clip.outputs)
