"""Moves a clamp into the node that computes its input."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from microgen.graph.arithmetic.terms import OPEN, Activation
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node, TensorLayout
from microgen.graph.ops.unary.activations import ClipAttrs

_VIEW = "reshape"


def fuse_activation(graph: Graph) -> Graph:
    """The graph in which a clip is fused if it only narrows the result of one other node. Reshapes
    may be between the two."""
    producers, uses = graph.producer_of(), graph.uses_of()
    done = _Fusing(graph)
    for clip in graph.nodes:
        chain = _chain(clip, producers, uses) if isinstance(clip.attrs, ClipAttrs) else []
        is_near = all(node.place == clip.place for node in chain)
        if chain and is_near and _fits(chain[-1], clip, graph):
            done.fuse(chain, clip)
    return done.fused()


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
    """The clip's activation; RELU for one without limit if the producer is limited already."""
    assert isinstance(clip.attrs, ClipAttrs)
    is_limited = getattr(producer.attrs, "activation", None) is Activation.NONE
    wanted = clip.attrs.activation
    return Activation.RELU if wanted is Activation.RELU_UNLIMITED and is_limited else wanted


@dataclass(slots=True)
class _Fusing:
    """The graph and its changes: nodes by their first output, the outputs of clips that disappear,
    and new tensors."""

    graph: Graph
    changed: dict[str, Node] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    types: dict[str, ArrayType] = field(default_factory=dict)
    laid_out: dict[str, TensorLayout] = field(default_factory=dict)

    def fuse(self, chain: list[Node], clip: Node) -> None:
        """Give the clip's activation to the producer, which is the last node of the chain, and its
        output to the last view, which is the first. The tensors between them are clamped now, so
        they get new names: they are the clip's output in another shape."""
        producer = chain[-1]
        attrs: Attrs = dataclasses.replace(producer.attrs, activation=_activation(producer, clip))  # type: ignore[call-arg]
        before = dataclasses.replace(producer, attrs=attrs)
        for node in reversed(chain[:-1]):
            name = self._clamped(before.outputs[0], clip.outputs[0])
            self.changed[before.outputs[0]] = dataclasses.replace(before, outputs=(name,))
            before = dataclasses.replace(node, inputs=(name,))
        self.changed[before.outputs[0]] = dataclasses.replace(before, outputs=clip.outputs)
        self.gone.add(clip.outputs[0])

    def fused(self) -> Graph:
        """The graph with everything that was fused."""
        kept = (node for node in self.graph.nodes if node.outputs[0] not in self.gone)
        return self.graph.replace(
            nodes=tuple(self.changed.get(node.outputs[0], node) for node in kept),
            types={**self.graph.types, **self.types},
            laid_out={**self.graph.laid_out, **self.laid_out},
        )

    def _clamped(self, tensor: str, clamped: str) -> str:
        """A new tensor with the elements of ``clamped`` in the shape of another tensor."""
        kind = self.graph.types[tensor]
        name = layouts.fresh(self.graph, clamped, more=self.types, shape=kind.shape)
        self.types[name] = kind
        self.laid_out[name] = layouts.reshaped(self.graph, clamped)
        return name
