"""What a module of the blob says of its functions, against the partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from microgen.blob.payloads import JsonRuntime, Payload
from microgen.codegens import json_graph
from microgen.codegens.json_graph import JSONGraph
from microgen.errors import MicrogenError
from microgen.manifest import FunctionRecord, HeldRecord, TypeRecord

_DTYPES = {"uint1": "bool"}  # DLPack's name


@dataclass(frozen=True, slots=True)
class _Signature:
    inputs: tuple[str, ...]
    constants: tuple[str, ...]
    outputs: tuple[str, ...]


def signature_problems(
    function: FunctionRecord, codegen: str, content: Payload
) -> Iterator[str]:
    """Names, shapes and dtypes that differ. Payloads that have none say nothing."""
    if not isinstance(content, JsonRuntime):
        return
    try:
        graph = json_graph.loads(content.graph_json, f"the graph of {function.symbol}")
    except MicrogenError as error:
        yield str(error)
        return
    if graph.symbol not in (None, function.symbol, f"{codegen}_{function.symbol}"):
        yield f"the graph of {function.symbol} has the symbol {graph.symbol}"
    names = tuple(constant.name for constant in function.constants)
    if content.const_names != names:
        have = _listed(content.const_names)
        yield f"{function.symbol} has the constants {have}, planned {_listed(names)}"
    found, planned = _of_graph(graph), _planned(function)
    for what in ("inputs", "constants", "outputs"):
        have, want = getattr(found, what), getattr(planned, what)
        if have != want:
            yield f"{what} of {function.symbol} are {_listed(have)}, planned {_listed(want)}"


def _of_graph(graph: JSONGraph) -> _Signature:
    def listed(op: str, *, with_name: bool = False) -> tuple[str, ...]:
        nodes = [node for node in graph.nodes if node.op == op]
        name = "{}: " if with_name else ""
        return tuple(
            name.format(node.name) + _type(shape, dtype)
            for node in nodes
            for shape, dtype in zip(node.shapes, node.dtypes, strict=True)
        )

    heads = [(graph.nodes[node], index) for node, index, _ in graph.heads]
    outputs = tuple(_type(node.shapes[index], node.dtypes[index]) for node, index in heads)
    return _Signature(listed("input"), listed("const", with_name=True), outputs)


def _planned(function: FunctionRecord) -> _Signature:
    def listed(types: tuple[TypeRecord | HeldRecord, ...]) -> tuple[str, ...]:
        return tuple(_type(kind.shape, kind.dtype) for kind in types)

    constants = (f"{c.name}: {_type(c.shape, c.dtype)}" for c in function.constants)
    return _Signature(listed(function.inputs), tuple(constants), listed(function.outputs))


def _type(shape: tuple[int, ...], dtype: str) -> str:
    return f"{_DTYPES.get(dtype, dtype)}[{','.join(map(str, shape))}]"


def _listed(items: tuple[str, ...]) -> str:
    return ", ".join(items) or "none"
