"""Loops as ONNX Runtime takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx import AttributeProto, ModelProto

_OPERATORS = ("If", "Loop", "Scan")


def complete(model: ModelProto) -> ModelProto:
    """The model in which every output of a loop or a branch has a name. ONNX Runtime ends the
    process if a Loop leaves one out."""
    nodes = [node for node in _nodes(model.graph) if node.op_type in _OPERATORS and not node.domain]
    if not any("" in node.output for node in nodes):
        return model
    named = ModelProto()
    named.CopyFrom(model)
    for number, node in enumerate(_nodes(named.graph)):
        if node.op_type in _OPERATORS and not node.domain:
            for k, name in enumerate(node.output):
                node.output[k] = name or f"#left{number}.{k}"
    return named


def _nodes(graph: Any) -> Iterator[Any]:
    """The nodes of a graph, and of the graphs inside."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _nodes(attribute.g)
