"""A graph as JSON for a runtime on the board: ``dnnl_json``, and others of TVM's JSON runtimes.

    string symbol, string graph_json, vector<string> const_names

Source: TVM v0.14, ``src/runtime/contrib/json/json_runtime.h``; the same since v0.7.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.relay.blob.payloads.base import Payload, Signature, name, names, typed
from microgen.tvm.codegens.json_graph import reader
from microgen.tvm.codegens.json_graph.node import JSONNode


@dataclass(frozen=True, slots=True)
class JsonRuntime(Payload):
    """One function. Its graph's constants must be in the order of ``const_names``."""

    symbol: str
    graph_json: str
    const_names: tuple[str, ...] = ()

    @classmethod
    def loads(cls, stream: Stream) -> JsonRuntime:
        """Read a payload. The text is not interpreted."""
        return cls(name(stream), stream.text(), names(stream))

    def dumps(self) -> bytes:
        """The payload."""
        text = byte_stream.string(self.symbol) + byte_stream.string(self.graph_json)
        return text + byte_stream.strings(self.const_names)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The function."""
        return (self.symbol,)

    @property
    def constants(self) -> tuple[str, ...]:
        """The constants that the function gets."""
        return self.const_names

    @property
    def texts(self) -> Mapping[str, str]:
        """The graph."""
        return {"json": self.graph_json}

    @property
    def facts(self) -> Mapping[str, Any]:
        """``nodes``, ``inputs``, ``kernels`` (names), ``outputs``, or ``malformed``."""
        try:
            graph = json.loads(self.graph_json)
            nodes = [(node["op"], node["name"]) for node in graph["nodes"]]
            return {
                "nodes": len(nodes),
                "inputs": sum(op == "input" for op, _ in nodes),
                "kernels": [str(kernel) for op, kernel in nodes if op == "kernel"],
                "outputs": len(graph["heads"]),
            }
        except (ValueError, LookupError, TypeError, RecursionError):
            return {"malformed": "the text is not JSON with nodes and heads"}

    def signature(self, symbol: str) -> Signature:
        """The graph's signature of its function; ``symbol`` is used if the text has none.
        Raises ModelError if it is not a graph."""
        graph = reader.loads(self.graph_json)
        heads = [(graph.nodes[node], index) for node, index, _ in graph.heads]
        return Signature(
            symbol if graph.symbol is None else graph.symbol,
            tuple(_type(n.shapes[0], n.dtypes[0]) for n in graph.nodes if n.op == "input"),
            self._constant_types([node for node in graph.nodes if node.op == "const"]),
            tuple(_type(node.shapes[index], node.dtypes[index]) for node, index in heads),
        )

    def _constant_types(self, nodes: Sequence[JSONNode]) -> tuple[str, ...]:
        """Constants by the nodes' names, which the module must list in the same order."""
        # Another list is no error here; verify compares signatures.
        if self.const_names != tuple(node.name for node in nodes):
            return self.const_names
        return tuple(f"{node.name}: {_type(node.shapes[0], node.dtypes[0])}" for node in nodes)


def _type(shape: Sequence[int], dtype: str) -> str:
    return typed(shape, "bool" if dtype == "uint1" else dtype)  # DLPack's name
