"""The text of TVM's guide to codegens, ExampleJSON: subgraphs, each a line with its name, inputs
and operators.

    string graph text
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microgen import byte_stream
from microgen.blob.payloads.base import Payload
from microgen.byte_stream import Stream


@dataclass(frozen=True, slots=True)
class ExampleJson(Payload):
    """Any number of subgraphs in one text."""

    graph: str

    @classmethod
    def loads(cls, stream: Stream) -> ExampleJson:
        """Read a payload; what the text means is not looked at."""
        return cls(stream.text())

    def dumps(self) -> bytes:
        """The payload."""
        return byte_stream.string(self.graph)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The subgraphs: lines of one word."""
        return tuple(line[0] for line in self._lines if len(line) == 1)

    @property
    def texts(self) -> Mapping[str, str]:
        """The graph."""
        return {"txt": self.graph}

    @property
    def facts(self) -> Mapping[str, Any]:
        """``inputs`` and ``kernels`` (names) of all subgraphs."""
        operators = [line[0] for line in self._lines if len(line) > 1]
        kernels = [operator for operator in operators if operator != "input"]
        return {"inputs": len(operators) - len(kernels), "kernels": kernels}

    @property
    def _lines(self) -> list[list[str]]:
        return [words for line in self.graph.split("\n") if (words := line.split())]
