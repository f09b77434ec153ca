"""Several nodes as one, for a kernel that computes a pattern of nodes.

A kernel's module may name a pattern as its ``OP_NAME``, the ops joined by "+", for example
"nn.depthwise_conv2d+nn.conv2d". All nodes but the last compute one tensor that only the next reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.graph.ir.graph import Attrs, Graph, Node

JOINT = "+"


@dataclass(frozen=True, slots=True)
class JoinedAttrs(Attrs):
    """The attributes of a joined node: its nodes, in execution order."""

    nodes: tuple[Node, ...]


def members(node: Node) -> tuple[Node, ...]:
    """The nodes of a joined node; a node that is not joined is its own only one."""
    return node.attrs.nodes if isinstance(node.attrs, JoinedAttrs) else (node,)


def joined(nodes: Sequence[Node]) -> Node:
    """The nodes as one node. Its inputs are the tensors from outside, each once, in the order in
    which they are first read. Its outputs, origin and place are the last node's.
    """
    if len(nodes) == 1:
        return nodes[0]
    inside = {name for node in nodes[:-1] for name in node.outputs}
    read = dict.fromkeys(name for node in nodes for name in node.inputs if name not in inside)
    last = nodes[-1]
    return Node(
        op=JOINT.join(node.op for node in nodes),
        inputs=tuple(read),
        outputs=last.outputs,
        attrs=JoinedAttrs(tuple(nodes)),
        origin=last.origin,
        target=last.target,
        function=last.function,
    )


class Chains:
    """Finds nodes that follow one another in a graph, whose links are counted once."""

    def __init__(self, graph: Graph) -> None:
        self._producers = graph.producer_of()
        self._uses = graph.uses_of()

    def ending(self, node: Node, ops: Sequence[str]) -> tuple[Node, ...]:
        """The chain of nodes with these ops that ends with ``node``; empty if there is none. Each
        node computes the first input of the next one, and no other node reads its outputs.
        """
        found = [node]
        while len(found) < len(ops) and found[0].inputs:
            name = found[0].inputs[0]
            before = self._producers.get(name)
            # A tensor that another node reads, or that is an output, has to exist outside of the
            # kernel.
            if before is None or self._uses[name] != 1 or before.place != node.place:
                return ()
            found.insert(0, before)
        is_pattern = [one.op for one in found] == list(ops)
        return tuple(found) if is_pattern and all(len(one.outputs) == 1 for one in found) else ()
