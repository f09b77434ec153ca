"""Compares the signatures of functions in a module of the blob with the partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from microgen.blob.payloads import ExampleJson, JsonRuntime, Payload
from microgen.codegens import json_graph
from microgen.codegens.examplejson import text as examplejson
from microgen.codegens.json_graph import JSONNode
from microgen.errors import MicrogenError
from microgen.manifest import FunctionRecord, TypeRecord

_DTYPES = {"uint1": "bool"}  # DLPack's name


@dataclass(frozen=True, slots=True)
class _Signature:
    """Types as texts, with constants' types after their names, and the name in the graph."""

    symbol: str
    inputs: tuple[str, ...]
    constants: tuple[str, ...]
    outputs: tuple[str, ...]


def signature_problems(function: FunctionRecord, codegen: str, content: Payload) -> Iterator[str]:
    """Names, shapes and dtypes that differ. Payloads without signatures have no problems."""
    planned = _planned(function)
    try:
        found = _found(function.symbol, content)
    except MicrogenError as error:
        yield f"the graph of {function.symbol} cannot be read: {error}"
        return
    if found is None:
        return
    if found.symbol not in (function.symbol, f"{codegen}_{function.symbol}"):
        yield f"the graph of {function.symbol} has the symbol {found.symbol}"
    for what in ("inputs", "constants", "outputs"):
        have, want = getattr(found, what), getattr(planned, what)
        if have != want:
            yield f"{what} of {function.symbol} are {_listed(have)}, planned {_listed(want)}"


def _planned(function: FunctionRecord) -> _Signature:
    def listed(types: Sequence[TypeRecord]) -> tuple[str, ...]:
        return tuple(_type(kind.shape, kind.dtype) for kind in types)

    constants = tuple(f"{c.name}: {_type(c.shape, c.dtype)}" for c in function.constants)
    return _Signature(function.symbol, listed(function.inputs), constants, listed(function.outputs))


def _found(symbol: str, content: Payload) -> _Signature | None:
    if isinstance(content, JsonRuntime):
        return _of_json(symbol, content)
    if isinstance(content, ExampleJson):
        return _of_example(symbol, content)
    return None


def _of_json(symbol: str, content: JsonRuntime) -> _Signature:
    graph = json_graph.loads(content.graph_json)
    heads = [(graph.nodes[node], index) for node, index, _ in graph.heads]
    constants = _constants(content, [node for node in graph.nodes if node.op == "const"])
    return _Signature(
        symbol if graph.symbol is None else graph.symbol,
        tuple(_type(n.shapes[0], n.dtypes[0]) for n in graph.nodes if n.op == "input"),
        constants,
        tuple(_type(node.shapes[index], node.dtypes[index]) for node, index in heads),
    )


def _constants(content: JsonRuntime, nodes: Sequence[JSONNode]) -> tuple[str, ...]:
    """Constants by the nodes' names, which the module lists in the same order."""
    names = tuple(node.name for node in nodes)
    if content.const_names != names:
        return content.const_names
    return tuple(f"{node.name}: {_type(node.shapes[0], node.dtypes[0])}" for node in nodes)


def _of_example(symbol: str, content: ExampleJson) -> _Signature | None:
    for graph in examplejson.parse(content.graph):
        if graph.symbol == symbol:
            shapes = {node.id: node.shape for node in graph.nodes}
            inputs = tuple(_type(node.shape, "float32") for node in graph.inputs)
            outputs = tuple(_type(shapes[output], "float32") for output in graph.outputs)
            return _Signature(symbol, inputs, (), outputs)
    return None


def _type(shape: tuple[int, ...], dtype: str) -> str:
    return f"{_DTYPES.get(dtype, dtype)}[{','.join(map(str, shape))}]"


def _listed(items: tuple[str, ...]) -> str:
    return ", ".join(items) or "none"
