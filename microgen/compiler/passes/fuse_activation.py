"""Moves a clamp into the node that computes its input."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from microgen.compiler.passes.changes import Changes
from microgen.graph.arithmetic.terms import OPEN, Activation
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ops.unary.activations import ClipAttrs

_VIEW = "reshape"


def fuse_activation(graph: Graph) -> Graph:
    """The graph in which a clip is fused if it only narrows the result of one other node. Reshapes
    may be between the two."""
    producers, uses = graph.producer_of(), graph.uses_of()
    changes = Changes(graph)
    for clip in graph.nodes:
        chain = _chain(clip, producers, uses) if isinstance(clip.attrs, ClipAttrs) else []
        is_near = all(node.place == clip.place for node in chain)
        if chain and is_near and _fits(chain[-1], clip, graph):
            *views, producer = chain
            activation = _activation(producer, clip)
            attrs = dataclasses.replace(producer.attrs, activation=activation)  # type: ignore[call-arg]
            fused = dataclasses.replace(producer, attrs=attrs)
            changes.hand_down(clip.outputs[0], fused, reversed(views))
            changes.gone.add(clip.outputs[0])
    return changes.made()


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
        # With equal quantization a clip changes no scale, so the producer clamps to the same range.
        and graph.types[producer.outputs[0]].quant == graph.types[clip.outputs[0]].quant
    )


def _activation(producer: Node, clip: Node) -> Activation:
    """The clip's activation. A RELU without an upper limit becomes RELU if the producer clamps to
    its dtype anyway."""
    assert isinstance(clip.attrs, ClipAttrs)
    is_limited = getattr(producer.attrs, "activation", None) is Activation.NONE
    wanted = clip.attrs.activation
    return Activation.RELU if wanted is Activation.RELU_UNLIMITED and is_limited else wanted
