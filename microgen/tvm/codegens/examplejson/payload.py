"""ExampleJSON, the text of TVM's guide to codegens. Each subgraph has a line with its name, its
inputs and operators, and optionally a line with the symbol. See docs/reference/examplejson.md.

    string graph text
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.relay.blob.payloads.base import Payload, Signature, typed
from microgen.tvm.codegens.examplejson import text


@dataclass(frozen=True, slots=True)
class ExampleJson(Payload):
    """Any number of subgraphs in one text."""

    graph: str

    @classmethod
    def loads(cls, stream: Stream) -> ExampleJson:
        """Read a payload. The text is not interpreted."""
        return cls(stream.text())

    def dumps(self) -> bytes:
        """The payload."""
        return byte_stream.string(self.graph)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions' symbols: the names of subgraphs, or the symbols from the lines ``<name>:
        <symbol>``."""
        symbols: list[str] = []
        for first, *others in self._lines:
            # The line after a subgraph that gives it another symbol.
            if symbols and others and first == f"{symbols[-1]}:":
                symbols[-1] = others[0]
            elif not others:
                symbols.append(first)
        return tuple(symbols)

    @property
    def texts(self) -> Mapping[str, str]:
        """The graph."""
        return {"txt": self.graph}

    @property
    def facts(self) -> Mapping[str, Any]:
        """``inputs`` and ``kernels`` (names) of all subgraphs."""
        operators = [x for x, *others in self._lines if others and not x.endswith(":")]
        kernels = [operator for operator in operators if operator != "input"]
        return {"inputs": len(operators) - len(kernels), "kernels": kernels}

    def signature(self, symbol: str) -> Signature | None:
        """A function's signature in the text. Raises MicrogenError if it is not ExampleJSON."""
        for graph in text.parse(self.graph):
            if graph.symbol == symbol:
                shapes = {node.id: node.shape for node in graph.nodes}
                inputs = tuple(typed(node.shape, "float32") for node in graph.inputs)
                outputs = tuple(typed(shapes[output], "float32") for output in graph.outputs)
                return Signature(symbol, inputs, (), outputs)
        return None

    @property
    def _lines(self) -> list[list[str]]:
        return [words for line in self.graph.split("\n") if (words := line.split())]
