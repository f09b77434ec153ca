"""Moves a clamp into the node that computes its input."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from microgen.arithmetic.terms import OPEN, Activation
from microgen.ir.graph import Attrs, Graph, Node
from microgen.ops.clip import ClipAttrs

_VIEW = "reshape"


def fuse_activation(graph: Graph) -> Graph:
    """The graph in which a clip is fused if it only narrows the result of one other node. Reshapes
    may be between the two.

    This is exact: the producer clamps its output to the same stored range, because a clip with
    equal quantization on both sides changes no scale.
    """
    producers, uses = graph.producer_of(), graph.uses_of()
    changed: dict[str, Node] = {}
    gone: set[str] = set()
    for clip in graph.nodes:
        chain = _chain(clip, producers, uses) if isinstance(clip.attrs, ClipAttrs) else []
        is_near = all(node.place == clip.place for node in chain)
        if chain and is_near and _fits(chain[-1], clip, graph):
            changed |= _fused(chain, clip)
            gone.add(clip.outputs[0])
    kept = (node for node in graph.nodes if node.outputs[0] not in gone)
    return graph.replace(nodes=tuple(changed.get(node.outputs[0], node) for node in kept))


def _chain(clip: Node, producers: Mapping[str, Node], uses: Mapping[str, int]) -> list[Node]:
    """The nodes before the clip that nothing else reads: reshapes, and the node before them."""
    chain: list[Node] = []
    name = clip.inputs[0]
    while uses[name] == 1 and name in producers:
        chain.append(producers[name])
        if chain[-1].op != _VIEW:
            return chain
        name = chain[-1].inputs[0]
    return []


def _fits(producer: Node, clip: Node, graph: Graph) -> bool:
    return (
        producer.op != "clip"
        and getattr(producer.attrs, "activation", None) in OPEN
        and graph.types[producer.outputs[0]].quant == graph.types[clip.outputs[0]].quant
    )


def _activation(producer: Node, clip: Node) -> Activation:
    """The clip's activation; RELU for one without limit if the producer is limited already."""
    assert isinstance(clip.attrs, ClipAttrs)
    is_limited = getattr(producer.attrs, "activation", None) is Activation.NONE
    wanted = clip.attrs.activation
    return Activation.RELU if wanted is Activation.RELU_UNLIMITED and is_limited else wanted


def _fused(chain: list[Node], clip: Node) -> dict[str, Node]:
    """The nodes of the chain, by their outputs: the producer with the clip's activation, and the
    last node with the clip's output."""
    producer = chain[-1]
    attrs: Attrs = dataclasses.replace(producer.attrs, activation=_activation(producer, clip))  # type: ignore[call-arg]
    fused = {producer.outputs[0]: dataclasses.replace(producer, attrs=attrs)}
    last = chain[0].outputs[0]
    fused[last] = dataclasses.replace(fused.get(last, chain[0]), outputs=clip.outputs)
    return fused
