"""The nodes that tensors depend on, and an order in which they can run. ONNX requires this order in
files. ONNX Runtime also accepts other orders, and sorts the nodes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from onnx import GraphProto, ModelProto, NodeProto

from microgen.base.errors import ModelError, short


def sort(model: ModelProto, file: str) -> None:
    """Put the nodes of a model's graphs and functions into an order in which they can run, unless
    their order is already possible. ModelError if no such order exists.
    """
    pending: list[Any] = [model.graph, *model.functions]
    while pending:
        owner = pending.pop()
        order = _sorted(owner.node, file)
        if order is not None:
            nodes = [owner.node[k] for k in order]
            # The elements of a repeated field belong to their message, so they are copied before it
            # is emptied.
            copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
            del owner.node[:]
            owner.node.extend(copies)
        for node in owner.node:
            pending += _graphs(node)


def reads(node: NodeProto) -> Iterator[str]:
    """The names that a node reads, and the outer names that its graphs read."""
    yield from node.input
    for graph in _graphs(node):
        # Names that the inner graph defines are not outer names.
        made = {name for inner in graph.node for name in inner.output}
        made.update(info.name for info in graph.input)
        made.update(tensor.name for tensor in graph.initializer)
        for inner in graph.node:
            yield from (name for name in reads(inner) if name not in made)
        yield from (info.name for info in graph.output if info.name not in made)


def needed(protos: Sequence[NodeProto], wanted: Sequence[str]) -> list[NodeProto]:
    """The nodes that the wanted tensors depend on, in their order."""
    read, nodes = {*filter(None, wanted)}, []
    # Backwards, because the readers of a node come after it.
    for proto in reversed(protos):
        if not read.isdisjoint(proto.output):
            nodes.append(_with_outputs(proto, read))
            read.update(filter(None, reads(proto)))
    return nodes[::-1]


def _with_outputs(proto: NodeProto, read: Container[str]) -> NodeProto:
    """The node without the names of outputs that nothing reads."""
    if all(name in read for name in filter(None, proto.output)):
        return proto
    copied = NodeProto()
    copied.CopyFrom(proto)
    copied.output[:] = [name if name in read else "" for name in proto.output]
    return copied


def _graphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _sorted(nodes: Sequence[NodeProto], file: str) -> list[int] | None:
    """The numbers of nodes in an order in which they can run, as close to the file's order as
    possible; None if the file's order is possible.
    """
    makers: dict[str, int] = {}
    for k, node in enumerate(nodes):
        for name in filter(None, node.output):
            # If two nodes make one name, the first counts; ``OnnxScope.add`` refuses the second
            # one.
            makers.setdefault(name, k)
    needs = [[makers[name] for name in reads(node) if name in makers] for node in nodes]
    if all(maker < k for k, own in enumerate(needs) for maker in own):
        return None
    return _by_needs(nodes, dict(enumerate(needs)), file)


def _by_needs(
    nodes: Sequence[NodeProto], needs: Mapping[int, Sequence[int]], file: str
) -> list[int]:
    """Each node after the nodes that it needs (depth-first order)."""
    # The path is a stack of its own, because chains of nodes may be longer than Python recurses.
    done: dict[int, None] = {}
    for start in needs:
        path: dict[int, Iterator[int]] = {} if start in done else {start: iter(needs[start])}
        while path:
            node = next(reversed(path))
            following = next((k for k in path[node] if k not in done), None)
            if following is None:
                del path[node]
                done[node] = None
            elif following in path:
                name = next(filter(None, nodes[following].output))
                raise ModelError(
                    f'the tensor "{short(name)}" is computed from itself',
                    where=file,
                    hint="nodes must form no cycle; onnx.checker finds such errors",
                )
            else:
                path[following] = iter(needs[following])
    return list(done)
