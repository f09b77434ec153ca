"""Prints a graph in Relay's style, one line per node, for people and for tests of passes."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Sequence
from typing import Any

from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node
from microgen.graph.ops.external import ExternalAttrs


def show(graph: Graph) -> str:
    """The graph as text: ``def @main(...) -> ... { %0 = op(...); ... }``, followed by each external
    function in the same form.

    Inputs and constants keep their names. Computed tensors are numbered in order.
    """
    functions = [node.attrs for node in graph.nodes if isinstance(node.attrs, ExternalAttrs)]
    texts = [_function("main", graph)]
    for own in functions:
        attributes = [f'Compiler="{own.codegen}"', f'global_symbol="{own.symbol}"']
        texts.append(_function(own.symbol, own.graph, attributes))
    texts += [_function(name, inner) for name, inner in _inner(graph)]
    return "\n".join(texts)


def _inner(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """The graphs inside loops and branches, and inside those, with names."""
    for node in graph.nodes:
        for field in dataclasses.fields(node.attrs):
            inside = getattr(node.attrs, field.name)
            if isinstance(inside, Graph) and not isinstance(node.attrs, ExternalAttrs):
                yield f"{_plain(node.outputs[0])}.{field.name}", inside
                yield from _inner(inside)


def _function(name: str, graph: Graph, attributes: Sequence[str] = ()) -> str:
    numbers = {out: f"%{i}" for i, out in enumerate(o for n in graph.nodes for o in n.outputs)}
    names = {name: numbers.get(name, f"%{_plain(name)}") for name in graph.types}
    declared = [f"%{_plain(n)}: {_type(graph.types[n])}" for n in graph.inputs]
    params = ", ".join([*declared, *attributes])
    results = ", ".join(_type(graph.types[n]) for n in graph.outputs)
    lines = [f"def @{name}({params}) -> {_tuple(results, len(graph.outputs))} {{"]
    lines += [f"  {_node(node, graph, names)}" for node in graph.nodes]
    lines += [f"  /* {names[v]} is {names[n]} next time */" for v, n in graph.updates.items()]
    lines.append(f"  {_tuple(', '.join(names[n] for n in graph.outputs), len(graph.outputs))}")
    return "\n".join([*lines, "}", ""])


def _node(node: Node, graph: Graph, names: dict[str, str]) -> str:
    results = ", ".join(names[out] for out in node.outputs)
    arguments = [names[name] for name in node.inputs]
    callee = f"@{node.attrs.symbol}" if isinstance(node.attrs, ExternalAttrs) else node.op
    # An external function has no attributes to print. Its own text follows.
    if callee == node.op:
        arguments += _attributes(node.attrs)
    declared = ", ".join(_type(graph.types[out]) for out in node.outputs)
    return f"{results} = {callee}({', '.join(arguments)}) /* ty={declared} */;"


def _attributes(attrs: Attrs) -> list[str]:
    pairs = ((f.name, getattr(attrs, f.name)) for f in dataclasses.fields(attrs))
    # The graphs inside follow in their own text.
    return [f"{name}={_value(value)}" for name, value in pairs if not isinstance(value, Graph)]


def _value(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f'"{value.value}"'
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)


def _type(tensor: ArrayType) -> str:
    dims = ", ".join(map(str, tensor.shape))
    return f"Tensor[({dims}), {tensor.dtype.value}]"


def _tuple(text: str, count: int) -> str:
    return text if count == 1 else f"({text})"


def _plain(name: str) -> str:
    # Relay's identifiers are letters, digits, "_" and ".".
    return "".join(c if c.isalnum() or c in "_." else "_" for c in name)
